// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func capabilities(c *corev1.Capabilities) *runtimeapi.Capability {
	if c == nil {
		return nil
	}
	return &runtimeapi.Capability{AddCapabilities: capabilityNames(c.Add), DropCapabilities: capabilityNames(c.Drop)}
}

// capabilityNames are as a runtime takes them: in capitals, and without the prefix
// that the kernel's names have and Kubernetes' have not.
func capabilityNames(list []corev1.Capability) []string {
	var names []string
	for _, c := range list {
		names = append(names, strings.TrimPrefix(strings.ToUpper(string(c)), "CAP_"))
	}
	return names
}
