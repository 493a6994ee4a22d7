// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import corev1 "k8s.io/api/core/v1"

// noWindows is why what is for Windows alone is refused.
const noWindows = "windows options cannot be set for a linux pod"

// securityFields are those of the security contexts of the pod and its containers.
func securityFields() []fieldRule {
	return []fieldRule{
		{path: "securityContext.runAsUser"},
		{path: "securityContext.runAsGroup"},
		{path: "securityContext.runAsNonRoot"},
		{path: "securityContext.seccompProfile"},
		{path: "securityContext.appArmorProfile"},
		{path: "securityContext.seLinuxOptions"},
		{path: "securityContext.windowsOptions", refuse: noWindows},
	}
}

// podSecurityFields are those of the pod's alone.
func podSecurityFields() []fieldRule {
	return append(securityFields(),
		fieldRule{path: "securityContext.supplementalGroups"},
		fieldRule{path: "securityContext.supplementalGroupsPolicy"},
		fieldRule{path: "securityContext.fsGroup"},
		fieldRule{path: "securityContext.fsGroupChangePolicy"},
		fieldRule{path: "securityContext.sysctls"},
		fieldRule{path: "securityContext.seLinuxChangePolicy", values: []any{corev1.SELinuxChangePolicyRecursive}},
	)
}

// containerSecurityFields are those of a container's alone.
func containerSecurityFields() []fieldRule {
	return append(securityFields(),
		fieldRule{path: "securityContext.capabilities"},
		fieldRule{path: "securityContext.privileged"},
		fieldRule{path: "securityContext.allowPrivilegeEscalation"},
		fieldRule{path: "securityContext.readOnlyRootFilesystem"},
		fieldRule{path: "securityContext.procMount"},
	)
}
