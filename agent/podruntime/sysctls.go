// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/node/util/sysctl"
)

// sysctls are the kernel parameters of the pod's namespaces, under their names with
// dots. Which of them are allowed was decided at admission.
func sysctls(pod *corev1.Pod) map[string]string {
	sc := pod.Spec.SecurityContext
	if sc == nil || len(sc.Sysctls) == 0 {
		return nil
	}
	all := make(map[string]string, len(sc.Sysctls))
	for _, s := range sc.Sysctls {
		all[sysctl.NormalizeName(s.Name)] = s.Value
	}
	return all
}
