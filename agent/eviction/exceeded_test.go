// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package eviction

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

const mi = 1 << 20

func emptyDir(name, limit string, medium corev1.StorageMedium) corev1.Volume {
	source := &corev1.EmptyDirVolumeSource{Medium: medium}
	if limit != "" {
		q := resource.MustParse(limit)
		source.SizeLimit = &q
	}
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: source}}
}

func container(name, limit string) corev1.Container {
	c := corev1.Container{Name: name}
	if limit != "" {
		c.Resources.Limits = corev1.ResourceList{corev1.ResourceEphemeralStorage: resource.MustParse(limit)}
	}
	return c
}

func TestExceeded(t *testing.T) {
	const cache = "Usage of EmptyDir volume \"cache\" exceeds the limit \"16Mi\". "
	for name, tc := range map[string]struct {
		spec  corev1.PodSpec
		usage Usage
		want  string
	}{
		"nothing is limited": {
			spec:  corev1.PodSpec{Volumes: []corev1.Volume{emptyDir("cache", "", "")}, Containers: []corev1.Container{container("c", "")}},
			usage: Usage{EmptyDirs: map[string]int64{"cache": 100 * mi}, Containers: map[string]int64{"c": 100 * mi}},
		},
		"a limit of 0 is none": {
			spec:  corev1.PodSpec{Volumes: []corev1.Volume{emptyDir("cache", "0", "")}},
			usage: Usage{EmptyDirs: map[string]int64{"cache": 100 * mi}},
		},
		"an emptyDir at its limit": {
			spec:  corev1.PodSpec{Volumes: []corev1.Volume{emptyDir("cache", "16Mi", "")}},
			usage: Usage{EmptyDirs: map[string]int64{"cache": 16 * mi}},
		},
		"an emptyDir beyond its limit": {
			spec:  corev1.PodSpec{Volumes: []corev1.Volume{emptyDir("a", "1Gi", ""), emptyDir("cache", "16Mi", "")}},
			usage: Usage{EmptyDirs: map[string]int64{"a": 20 * mi, "cache": 16*mi + 1}},
			want:  cache,
		},
		"an emptyDir in memory bounds itself": {
			spec:  corev1.PodSpec{Volumes: []corev1.Volume{emptyDir("cache", "16Mi", corev1.StorageMediumMemory)}},
			usage: Usage{EmptyDirs: map[string]int64{"cache": 20 * mi}},
		},
		"a container beyond its limit": {
			spec:  corev1.PodSpec{Containers: []corev1.Container{container("a", "1Gi"), container("c", "16Mi")}},
			usage: Usage{Containers: map[string]int64{"a": 20 * mi, "c": 17 * mi}},
			want:  "Container c exceeded its local ephemeral storage limit \"16Mi\". ",
		},
		"an init container beyond its limit": {
			spec: corev1.PodSpec{
				InitContainers: []corev1.Container{container("i", "16Mi")}, Containers: []corev1.Container{container("c", "1Gi")},
			},
			usage: Usage{Containers: map[string]int64{"i": 17 * mi}},
			want:  "Container i exceeded its local ephemeral storage limit \"16Mi\". ",
		},
		"the containers and an emptyDir together": {
			spec: corev1.PodSpec{
				Volumes:    []corev1.Volume{emptyDir("d", "", "")},
				Containers: []corev1.Container{container("a", "10Mi"), container("b", "10Mi")},
			},
			usage: Usage{EmptyDirs: map[string]int64{"d": 5 * mi}, Containers: map[string]int64{"a": 8 * mi, "b": 8 * mi}},
			want:  "Pod ephemeral local storage usage exceeds the total limit of containers 20Mi. ",
		},
		"the emptyDir's limit is told first": {
			spec:  corev1.PodSpec{Volumes: []corev1.Volume{emptyDir("cache", "16Mi", "")}, Containers: []corev1.Container{container("c", "1Mi")}},
			usage: Usage{EmptyDirs: map[string]int64{"cache": 17 * mi}, Containers: map[string]int64{"c": 2 * mi}},
			want:  cache,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := exceeded(&corev1.Pod{Spec: tc.spec}, tc.usage); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestIsLimited(t *testing.T) {
	for name, tc := range map[string]struct {
		spec corev1.PodSpec
		want bool
	}{
		"no limit":           {corev1.PodSpec{Volumes: []corev1.Volume{emptyDir("d", "", "")}, Containers: []corev1.Container{container("c", "")}}, false},
		"an emptyDir":        {corev1.PodSpec{Volumes: []corev1.Volume{emptyDir("d", "1Mi", "")}}, true},
		"one in memory":      {corev1.PodSpec{Volumes: []corev1.Volume{emptyDir("d", "1Mi", corev1.StorageMediumMemory)}}, false},
		"a container":        {corev1.PodSpec{Containers: []corev1.Container{container("c", "1Mi")}}, true},
		"an init container":  {corev1.PodSpec{InitContainers: []corev1.Container{container("c", "1Mi")}}, true},
		"a limit of nothing": {corev1.PodSpec{Containers: []corev1.Container{container("c", "0")}}, false},
	} {
		if got := isLimited(&corev1.Pod{Spec: tc.spec}); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
