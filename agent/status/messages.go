// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
)

// maxMessages is how much the last words of all containers of a pod take together, in
// bytes.
const maxMessages = 12 << 10

// limitMessages gives each container of a pod its share of the room for last words.
func limitMessages(pod *corev1.Pod, status *corev1.PodStatus) {
	share := maxMessages / max(1, len(pod.Spec.InitContainers)+len(pod.Spec.Containers)+len(pod.Spec.EphemeralContainers))
	for _, list := range [][]corev1.ContainerStatus{status.InitContainerStatuses, status.ContainerStatuses, status.EphemeralContainerStatuses} {
		for i := range list {
			limitMessage(list[i].State.Terminated, share)
			limitMessage(list[i].LastTerminationState.Terminated, share)
		}
	}
}

func limitMessage(t *corev1.ContainerStateTerminated, limit int) {
	if t == nil || len(t.Message) <= limit {
		return
	}
	for limit > 0 && !utf8.RuneStart(t.Message[limit]) {
		limit--
	}
	t.Message = t.Message[:limit]
}
