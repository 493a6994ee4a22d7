// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestFixedFiles(t *testing.T) {
	mounts := []corev1.VolumeMount{
		{Name: "conf", MountPath: "/whole"}, {Name: "conf", MountPath: "/a", SubPath: "a"}, {Name: "data", MountPath: "/b", SubPath: "b"},
		{Name: "secret", MountPath: "/c", SubPathExpr: "$(C)"},
	}
	pod := validPod()
	pod.Spec.Containers[0].VolumeMounts = mounts
	pod.Spec.InitContainers[0].VolumeMounts = mounts[1:2]
	want := []string{"spec.initContainers[0].volumeMounts[0]", "spec.containers[0].volumeMounts[1]", "spec.containers[0].volumeMounts[3]"}
	if got := FixedFiles(pod); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	const warning = "spec.containers[0].volumeMounts[3]: with a subPath, files do not follow changes until the container is restarted"
	if got := Warnings(pod); !slices.Contains(got, warning) {
		t.Errorf("warnings %q", got)
	}
	if got := FixedFiles(validPod()); len(got) > 0 {
		t.Errorf("without subPath: %q", got)
	}
}
