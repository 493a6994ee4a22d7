// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
)

// newNode returns the Node to create for one that an agent presents: its labels
// and annotations, and the taints and cordon that it wishes to begin with.
func newNode(presented *corev1.Node) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:        presented.Name,
			Labels:      labelsOf(presented),
			Annotations: maps.Clone(presented.Annotations),
		},
		Spec: corev1.NodeSpec{
			Taints:        presented.Spec.Taints,
			Unschedulable: presented.Spec.Unschedulable,
			ProviderID:    presented.Spec.ProviderID,
		},
		Status: *presented.Status.DeepCopy(),
	}
}

// refreshed returns the stored Node with the labels and annotations that its
// agent presents; what others added stays.
func refreshed(stored, presented *corev1.Node) *corev1.Node {
	node := stored.DeepCopy()
	node.Labels = overlay(node.Labels, labelsOf(presented))
	node.Annotations = overlay(node.Annotations, presented.Annotations)
	return node
}

// labelsOf returns the presented labels, and those that every node has.
func labelsOf(presented *corev1.Node) map[string]string {
	labels := map[string]string{corev1.LabelHostname: presented.Name}
	if os := presented.Status.NodeInfo.OperatingSystem; os != "" {
		labels[corev1.LabelOSStable] = os
	}
	if arch := presented.Status.NodeInfo.Architecture; arch != "" {
		labels[corev1.LabelArchStable] = arch
	}
	return overlay(labels, presented.Labels)
}

func overlay(base, over map[string]string) map[string]string {
	if len(over) == 0 {
		return base
	}
	if base == nil {
		base = map[string]string{}
	}
	maps.Copy(base, over)
	return base
}

// mergeStatus returns the reported status with what must not be lost of the
// stored one: conditions that others set, and, for a condition whose status is
// the same as before, since when it is.
func mergeStatus(stored, reported *corev1.NodeStatus) *corev1.NodeStatus {
	merged := reported.DeepCopy()
	for _, old := range stored.Conditions {
		c := api.NodeCondition(merged, old.Type)
		switch {
		case c == nil:
			merged.Conditions = append(merged.Conditions, old)
		case c.Status == old.Status:
			c.LastTransitionTime = old.LastTransitionTime
		}
	}
	return merged
}
