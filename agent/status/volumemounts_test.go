// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/agent/podtypes"
)

func TestVolumeMountsOfAContainer(t *testing.T) {
	c := container{spec: &corev1.Container{VolumeMounts: []corev1.VolumeMount{
		{Name: "a", MountPath: "/a", RecursiveReadOnly: ptr.To(corev1.RecursiveReadOnlyDisabled)},
		{Name: "b", MountPath: "/b/", ReadOnly: true, RecursiveReadOnly: ptr.To(corev1.RecursiveReadOnlyIfPossible)},
		{Name: "c", MountPath: "/c", ReadOnly: true, RecursiveReadOnly: ptr.To(corev1.RecursiveReadOnlyIfPossible)},
	}}}
	want := []corev1.VolumeMountStatus{
		{Name: "a", MountPath: "/a"},
		{Name: "b", MountPath: "/b/", ReadOnly: true, RecursiveReadOnly: ptr.To(corev1.RecursiveReadOnlyEnabled)},
		{Name: "c", MountPath: "/c", ReadOnly: true, RecursiveReadOnly: ptr.To(corev1.RecursiveReadOnlyDisabled)},
	}
	if diff := cmp.Diff(want, c.volumeMounts(&podtypes.ContainerStatus{RecursiveReadOnly: []string{"/b"}})); diff != "" {
		t.Error(diff)
	}
}
