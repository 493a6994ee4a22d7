// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
)

// settle makes next follow previous, whatever made it: the phase does not leave
// Succeeded or Failed nor becomes that while a container runs, restart counts do
// not fall, start and transition times stay where nothing changed, and
// conditions that the agent does not set are kept.
func settle(previous, next *corev1.PodStatus, now metav1.Time) {
	holdPhase(previous, next)
	if previous.StartTime != nil {
		next.StartTime = previous.StartTime.DeepCopy()
	}
	if api.IsTerminalPhase(previous.Phase) && next.Reason == "" {
		next.Reason, next.Message = previous.Reason, previous.Message
	}
	keepRestartCounts(previous.InitContainerStatuses, next.InitContainerStatuses)
	keepRestartCounts(previous.ContainerStatuses, next.ContainerStatuses)
	settleConditions(previous, next, now)
}

func keepRestartCounts(previous, next []corev1.ContainerStatus) {
	for i := range next {
		if p := statusOf(previous, next[i].Name); p != nil {
			next[i].RestartCount = max(next[i].RestartCount, p.RestartCount)
		}
	}
}

func settleConditions(previous, next *corev1.PodStatus, now metav1.Time) {
	for i := range next.Conditions {
		c := &next.Conditions[i]
		p := api.PodCondition(previous, c.Type)
		switch {
		case p != nil && p.Status == c.Status && !p.LastTransitionTime.IsZero():
			c.LastTransitionTime = p.LastTransitionTime
		case c.LastTransitionTime.IsZero():
			c.LastTransitionTime = now
		}
	}
	for _, p := range previous.Conditions {
		if api.PodCondition(next, p.Type) == nil && !api.IsResizeCondition(p.Type) {
			next.Conditions = append(next.Conditions, p)
		}
	}
}
