// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
)

// idAnnotation holds the id of the agent that registered the node last.
const idAnnotation = "berth.run/node-id"

// newNode returns the Node to create for one that the agent of that id presents.
func newNode(id string, presented *corev1.Node) *corev1.Node {
	return refreshed(&corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: presented.Name},
		Status:     *presented.Status.DeepCopy(),
	}, id, presented)
}

// refreshed returns the stored Node with the id of its agent and the labels that
// this presents now. Taints and the cordon are the users' alone.
func refreshed(stored *corev1.Node, id string, presented *corev1.Node) *corev1.Node {
	node := stored.DeepCopy()
	now := labelsOf(presented)
	node.Labels = mergeLabels(stored.Labels, presentedBefore(stored), now)
	rememberPresented(node, now)
	if id != "" {
		metav1.SetMetaDataAnnotation(&node.ObjectMeta, idAnnotation, id)
	}
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
	maps.Copy(labels, presented.Labels)
	return labels
}

// mergeStatus returns the reported status with what must not be lost of the
// stored one: extended resources, which users count, conditions that others set, and, for a condition whose status is
// the same as before, since when it is.
func mergeStatus(stored, reported *corev1.NodeStatus) *corev1.NodeStatus {
	merged := reported.DeepCopy()
	keepExtended(merged, stored)
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

// keepExtended adds the extended resources of the stored status that the agent does
// not report itself.
func keepExtended(merged, stored *corev1.NodeStatus) {
	for name, q := range api.ExtendedResources(stored.Capacity) {
		if _, reported := merged.Capacity[name]; !reported {
			if merged.Capacity == nil {
				merged.Capacity = corev1.ResourceList{}
			}
			merged.Capacity[name] = q
		}
	}
	api.AllocateExtended(merged)
}
