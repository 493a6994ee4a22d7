// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package nodestatus compares node statuses for what is worth telling.
package nodestatus

import (
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Equal tells whether two statuses say the same, heartbeat times aside: those
// alone are not worth a message or a write.
func Equal(a, b *corev1.NodeStatus) bool {
	return apiequality.Semantic.DeepEqual(withoutHeartbeats(a), withoutHeartbeats(b))
}

func withoutHeartbeats(s *corev1.NodeStatus) *corev1.NodeStatus {
	out := *s
	out.Conditions = append([]corev1.NodeCondition(nil), s.Conditions...)
	for i := range out.Conditions {
		out.Conditions[i].LastHeartbeatTime = metav1.Time{}
	}
	return &out
}
