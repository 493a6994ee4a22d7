// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/agent/podtypes"
)

// volumeMounts shows how a container has its volumes: of those that it cannot write,
// whether that holds for what is mounted below, too.
func (c *container) volumeMounts(latest *podtypes.ContainerStatus) []corev1.VolumeMountStatus {
	var out []corev1.VolumeMountStatus
	for _, m := range c.spec.VolumeMounts {
		s := corev1.VolumeMountStatus{Name: m.Name, MountPath: m.MountPath, ReadOnly: m.ReadOnly}
		if m.ReadOnly {
			s.RecursiveReadOnly = ptr.To(corev1.RecursiveReadOnlyDisabled)
			if slices.Contains(latest.RecursiveReadOnly, path.Join("/", m.MountPath)) {
				s.RecursiveReadOnly = ptr.To(corev1.RecursiveReadOnlyEnabled)
			}
		}
		out = append(out, s)
	}
	return out
}
