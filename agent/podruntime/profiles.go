// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/utils/ptr"
)

// unconfined is what the kubelet runs a container with that asks for no seccomp
// profile.
var unconfined = &runtimeapi.SecurityProfile{ProfileType: runtimeapi.SecurityProfile_Unconfined}

// seccompProfile says which system calls a container may make. A profile of the
// node's is a file below its directory of them.
func (r *Runtime) seccompProfile(p *corev1.SeccompProfile) *runtimeapi.SecurityProfile {
	if p == nil {
		return unconfined
	}
	switch p.Type {
	case corev1.SeccompProfileTypeRuntimeDefault:
		return &runtimeapi.SecurityProfile{ProfileType: runtimeapi.SecurityProfile_RuntimeDefault}
	case corev1.SeccompProfileTypeLocalhost:
		return &runtimeapi.SecurityProfile{
			ProfileType:  runtimeapi.SecurityProfile_Localhost,
			LocalhostRef: filepath.Join(r.cfg.SeccompDir, filepath.Join("/", ptr.Deref(p.LocalhostProfile, ""))),
		}
	}
	return unconfined
}

// apparmorProfile is nil for a container that leaves the choice to the runtime. A
// profile of the node's is one that is loaded into its kernel.
func apparmorProfile(p *corev1.AppArmorProfile) *runtimeapi.SecurityProfile {
	if p == nil {
		return nil
	}
	switch p.Type {
	case corev1.AppArmorProfileTypeRuntimeDefault:
		return &runtimeapi.SecurityProfile{ProfileType: runtimeapi.SecurityProfile_RuntimeDefault}
	case corev1.AppArmorProfileTypeLocalhost:
		return &runtimeapi.SecurityProfile{
			ProfileType: runtimeapi.SecurityProfile_Localhost, LocalhostRef: ptr.Deref(p.LocalhostProfile, ""),
		}
	}
	return unconfined
}
