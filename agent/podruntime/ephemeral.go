// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// ephemeral returns the pod's ephemeral container of that name, or nil.
func ephemeral(pod *corev1.Pod, name string) *corev1.EphemeralContainer {
	for i := range pod.Spec.EphemeralContainers {
		if e := &pod.Spec.EphemeralContainers[i]; e.Name == name {
			return e
		}
	}
	return nil
}

// joinTarget has an ephemeral container see the processes of the container that it was
// added for.
func (s *podSync) joinTarget(sandbox *podSandbox, e *corev1.EphemeralContainer, config *runtimeapi.ContainerConfig) error {
	if e.TargetContainerName == "" {
		return nil
	}
	target := s.status.Latest(e.TargetContainerName)
	if target == nil || target.SandboxID != sandbox.id {
		return fmt.Errorf("unable to find target container %q", e.TargetContainerName)
	}
	o := config.GetLinux().GetSecurityContext().GetNamespaceOptions()
	o.Pid, o.TargetId = runtimeapi.NamespaceMode_TARGET, target.ID
	return nil
}
