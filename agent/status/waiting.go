// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Waiting reports what a container waits for while its pod is being synced, such as
// the rest of its image: the sync's own report may be minutes away. It changes
// nothing of a container that does not wait, or of a pod without a report.
func (m *Manager) Waiting(pod *corev1.Pod, container, message string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.entries[pod.UID]
	if !ok || e.terminated {
		return
	}
	next := e.status.DeepCopy()
	s := anyStatusOf(next, container)
	if s == nil || s.State.Waiting == nil {
		return
	}
	s.State.Waiting = &corev1.ContainerStateWaiting{Reason: notStarted(pod), Message: text(message)}
	m.replace(pod, e, next, stamp(time.Now()))
}

func anyStatusOf(status *corev1.PodStatus, name string) *corev1.ContainerStatus {
	for _, list := range [][]corev1.ContainerStatus{status.InitContainerStatuses, status.ContainerStatuses, status.EphemeralContainerStatuses} {
		if s := statusOf(list, name); s != nil {
			return s
		}
	}
	return nil
}

// notStarted is the reason of a container that waits for its turn.
func notStarted(pod *corev1.Pod) string {
	if len(pod.Spec.InitContainers) > 0 {
		return PodInitializing
	}
	return ContainerCreating
}
