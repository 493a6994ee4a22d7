// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
)

// presentedAnnotation holds, as a JSON object, the labels that a node's agent
// presented last: what tells its labels from those of users.
const presentedAnnotation = "berth.run/agent-labels"

// machineLabels say what the machine is. They are always as the agent says: pods
// are placed by them.
var machineLabels = map[string]bool{
	corev1.LabelHostname: true, corev1.LabelOSStable: true, corev1.LabelArchStable: true,
}

// mergeLabels returns the labels of a node whose agent presented before and
// presents now. Only what the agent says anew changes anything, so a label that a
// user set, changed or removed meanwhile stays so; one that the agent no longer
// presents goes, unless a user changed it.
func mergeLabels(stored, before, now map[string]string) map[string]string {
	merged := map[string]string{}
	for key, value := range stored {
		_, presented := now[key]
		told, owned := before[key]
		if presented || !owned || told != value {
			merged[key] = value
		}
	}
	for key, value := range now {
		if told, known := before[key]; !known || told != value || machineLabels[key] {
			merged[key] = value
		}
	}
	return merged
}

// presentedBefore returns what rememberPresented put on the node. Without it, or
// when it cannot be read, nothing is known of the agent's labels.
func presentedBefore(node *corev1.Node) map[string]string {
	var labels map[string]string
	if json.Unmarshal([]byte(node.Annotations[presentedAnnotation]), &labels) != nil {
		return nil
	}
	return labels
}

func rememberPresented(node *corev1.Node, labels map[string]string) {
	text, err := json.Marshal(labels)
	if err != nil {
		return // a map of strings always encodes
	}
	if node.Annotations == nil {
		node.Annotations = map[string]string{}
	}
	node.Annotations[presentedAnnotation] = string(text)
}
