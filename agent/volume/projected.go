// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"context"
	"errors"
	"maps"

	corev1 "k8s.io/api/core/v1"
)

// projectedFiles are those of all sources. Of two at one path the later is shown.
func (m *Manager) projectedFiles(ctx context.Context, pod *corev1.Pod, v *corev1.ProjectedVolumeSource) (payload, error) {
	out := payload{}
	for i := range v.Sources {
		files, err := m.projectionFiles(ctx, pod, &v.Sources[i], v.DefaultMode)
		if err != nil {
			return nil, err
		}
		maps.Copy(out, files)
	}
	return out, nil
}

func (m *Manager) projectionFiles(ctx context.Context, pod *corev1.Pod, s *corev1.VolumeProjection, mode *int32) (payload, error) {
	switch {
	case s.ConfigMap != nil:
		c := s.ConfigMap
		return m.configMapFiles(pod.Namespace, dataSource{c.Name, c.Items, mode, c.Optional})
	case s.Secret != nil:
		c := s.Secret
		return m.secretFiles(pod.Namespace, dataSource{c.Name, c.Items, mode, c.Optional})
	case s.DownwardAPI != nil:
		return m.downwardFiles(pod, s.DownwardAPI.Items, mode)
	case s.ServiceAccountToken != nil:
		return m.tokenFile(ctx, pod, s.ServiceAccountToken, mode)
	case *s == corev1.VolumeProjection{}: // which asks for nothing
		return nil, nil
	}
	return nil, errors.New("a projected source of this kind is not supported")
}
