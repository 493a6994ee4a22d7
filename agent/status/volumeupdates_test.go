// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/api"
)

func TestAPodTellsOfFilesThatDoNotFollow(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		Volumes:    []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}}}},
		Containers: []corev1.Container{{Name: "c", VolumeMounts: []corev1.VolumeMount{{Name: "v", MountPath: "/k", SubPath: "k"}}}},
	}}
	status := Generate(Input{Pod: pod})
	c := api.PodCondition(&status, api.VolumeUpdates)
	if c == nil || c.Status != corev1.ConditionFalse || c.Reason != "SubPath" {
		t.Fatalf("condition %+v", c)
	}
	pod.Spec.Containers[0].VolumeMounts[0].SubPath = ""
	status = Generate(Input{Pod: pod})
	if c := api.PodCondition(&status, api.VolumeUpdates); c != nil {
		t.Errorf("without subPath: %+v", c)
	}
}
