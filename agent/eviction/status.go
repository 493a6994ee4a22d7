// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package eviction

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/api"
)

// Reason is that of the status and of the event, as the kubelet words it.
const Reason = "Evicted"

// evicted is the status of a pod that the node ended for what it took. One that has
// ended by itself before is as it was.
func evicted(message string) func(*corev1.PodStatus) {
	return func(status *corev1.PodStatus) {
		if api.IsTerminalPhase(status.Phase) {
			return
		}
		status.Phase, status.Reason, status.Message = corev1.PodFailed, Reason, message
		api.SetPodCondition(status, corev1.PodCondition{
			Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue,
			Reason: corev1.PodReasonTerminationByKubelet, Message: message,
		})
	}
}
