// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// defaultHandler is what runs pods without a runtime class.
const defaultHandler = ""

// recursiveReadOnly decides whether what is mounted below a read-only mount is
// read-only too. supported tells whether the runtime can do that.
func recursiveReadOnly(m *corev1.VolumeMount, supported bool) (bool, error) {
	if m.RecursiveReadOnly == nil || *m.RecursiveReadOnly == corev1.RecursiveReadOnlyDisabled {
		return false, nil
	}
	if *m.RecursiveReadOnly == corev1.RecursiveReadOnlyEnabled && !supported {
		return false, fmt.Errorf("volume %q requested recursive read-only mode, but it is not supported by the runtime", m.Name)
	}
	return supported, nil
}

// readOnlyRecursively tells whether the runtime can, for pods that are run by the
// handler, make read-only what lies below a mount.
func readOnlyRecursively(handlers []corev1.NodeRuntimeHandler, handler string) bool {
	for _, h := range handlers {
		if h.Name == handler && h.Features != nil && h.Features.RecursiveReadOnlyMounts != nil {
			return *h.Features.RecursiveReadOnlyMounts
		}
	}
	return false
}

// recursivelyReadOnly are the paths of the mounts that are so.
func recursivelyReadOnly(mounts []*runtimeapi.Mount) (paths []string) {
	for _, m := range mounts {
		if m.GetRecursiveReadOnly() {
			paths = append(paths, m.GetContainerPath())
		}
	}
	return paths
}
