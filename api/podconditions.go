// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import corev1 "k8s.io/api/core/v1"

// IsNodeCondition tells whether a condition of a pod is its node's to say. All others
// are of those who set them, such as those that readiness gates name.
func IsNodeCondition(t corev1.PodConditionType) bool {
	switch t {
	case corev1.PodScheduled, corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady,
		corev1.DisruptionTarget, corev1.PodResizePending, corev1.PodResizeInProgress, VolumeUpdates:
		return true
	}
	return false
}

// IsResizeCondition tells whether a condition is one that is there only while a resize
// of the pod is not done.
func IsResizeCondition(t corev1.PodConditionType) bool {
	return t == corev1.PodResizePending || t == corev1.PodResizeInProgress
}
