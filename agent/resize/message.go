// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// summary is what an event has of a resize.
type summary struct {
	Containers []containerSummary           `json:"containers"`
	Resources  *corev1.ResourceRequirements `json:"resources,omitempty"`
	Generation int64                        `json:"generation"`
	Error      string                       `json:"error,omitempty"`
}

type containerSummary struct {
	Name      string                      `json:"name"`
	Resources corev1.ResourceRequirements `json:"resources"`
}

// Message tells what became of the resize of a pod, as the kubelet's events do. why
// may be empty.
func Message(what string, pod *corev1.Pod, why string) string {
	s := summary{Resources: pod.Spec.Resources, Generation: pod.Generation, Error: why}
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			s.Containers = append(s.Containers, containerSummary{list[i].Name, list[i].Resources})
		}
	}
	encoded, err := json.Marshal(s)
	if err != nil {
		return "Pod resize " + what
	}
	return fmt.Sprintf("Pod resize %s: %s", what, encoded)
}
