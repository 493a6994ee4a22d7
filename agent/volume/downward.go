// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/api"
)

// downwardFiles show what a pod may know of itself: its metadata as it is now, and
// the resources of its containers.
func (m *Manager) downwardFiles(pod *corev1.Pod, items []corev1.DownwardAPIVolumeFile, mode *int32) (payload, error) {
	out := payload{}
	for i := range items {
		value, err := m.downwardValue(pod, &items[i])
		if err != nil {
			return nil, fmt.Errorf("file %q: %w", items[i].Path, err)
		}
		out.put(items[i].Path, file{[]byte(value), fileMode(items[i].Mode, mode)})
	}
	return out, nil
}

func (m *Manager) downwardValue(pod *corev1.Pod, item *corev1.DownwardAPIVolumeFile) (string, error) {
	if item.FieldRef != nil {
		return api.FieldRefValue(pod, item.FieldRef.FieldPath, api.Place{})
	}
	ref := item.ResourceFieldRef
	c := api.Container(pod, ref.ContainerName)
	if c == nil {
		return "", fmt.Errorf("the pod has no container %q", ref.ContainerName)
	}
	return api.ResourceFieldRefValue(ref, c, m.allocatable())
}
