// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func TestVolumesOfFiles(t *testing.T) {
	name := corev1.DownwardAPIVolumeFile{Path: "name", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}
	cpu := corev1.DownwardAPIVolumeFile{Path: "cpu", ResourceFieldRef: &corev1.ResourceFieldSelector{ContainerName: "c", Resource: "limits.cpu"}}
	for what, tc := range map[string]struct {
		source corev1.VolumeSource
		want   string
	}{
		"downwardAPI": {corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{name, cpu}}}, `
Type:  DownwardAPI (a volume populated by information about the pod)
name:  metadata.name
cpu:   limits.cpu of c
`},
		"projected": {corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
			{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "cm"}}},
			{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Optional: ptr.To(true)}},
			{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{name}}},
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{ExpirationSeconds: ptr.To[int64](3600)}},
		}}}, `
Type:                    Projected (a volume that contains injected data from multiple sources)
ConfigMapName:           cm
Optional:                false
SecretName:              s
Optional:                true
name:                    metadata.name
TokenExpirationSeconds:  3600
`},
		"image": {corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: "files:1", PullPolicy: "Always"}}, `
Type:        Image (a container image or OCI artifact)
Reference:   files:1
PullPolicy:  Always
`},
	} {
		t.Run(what, func(t *testing.T) {
			got := "\n" + write(func(p *page) { p.volume(&tc.source) })
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
