// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	corev1 "k8s.io/api/core/v1"
)

// Terminated returns the last status of a pod of which nothing is left on the
// node: every container is shown terminated, as it was reported or else with an
// unknown end, and the phase is terminal.
func Terminated(pod *corev1.Pod, status *corev1.PodStatus) *corev1.PodStatus {
	in := Input{Pod: pod, Previous: status, Ended: true}
	final := status.DeepCopy()
	in.setContainers(final, status)
	final.Phase = in.phase(final)
	holdPhase(status, final)
	final.Conditions = nil
	in.setConditions(final)
	return final
}
