// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func limits(list ...string) []corev1.Container {
	var all []corev1.Container
	for _, limit := range list {
		c := corev1.Container{}
		if limit != "" {
			c.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(limit)}
		}
		all = append(all, c)
	}
	return all
}

func TestMemorySize(t *testing.T) {
	for name, tc := range map[string]struct {
		node, limit string
		containers  []corev1.Container
		want        string
	}{
		"its limit":                                 {"1Gi", "16Mi", limits(""), "16Mi"},
		"a limit of 0 is none":                      {"1Gi", "0", limits(""), "1Gi"},
		"the node's memory":                         {"1Gi", "", limits(""), "1Gi"},
		"no more than the node's":                   {"1Gi", "2Gi", limits(""), "1Gi"},
		"the pod's limit":                           {"1Gi", "", limits("64Mi", "64Mi"), "128Mi"},
		"a container without a limit":               {"1Gi", "", limits("64Mi", ""), "1Gi"},
		"no more than the pod's":                    {"1Gi", "1Gi", limits("64Mi"), "64Mi"},
		"a node that does not know what it has yet": {"0", "16Mi", limits(""), "16Mi"},
	} {
		t.Run(name, func(t *testing.T) {
			source := &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}
			if tc.limit != "" {
				q := resource.MustParse(tc.limit)
				source.SizeLimit = &q
			}
			pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: tc.containers}}
			want := resource.MustParse(tc.want)
			got := memorySize(pod, source, corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(tc.node)})
			if got != want.Value() {
				t.Errorf("%d, want %d", got, want.Value())
			}
		})
	}
}

func TestPageSize(t *testing.T) {
	for name, tc := range map[string]struct {
		medium   corev1.StorageMedium
		requests []corev1.ResourceName
		want     int64 // 0 for an error
	}{
		"named":                     {"HugePages-2Mi", []corev1.ResourceName{"hugepages-2Mi", "hugepages-1Gi"}, 2 << 20},
		"named and not requested":   {"HugePages-1Gi", []corev1.ResourceName{"hugepages-2Mi"}, 0},
		"the one that is requested": {"HugePages", []corev1.ResourceName{"cpu", "hugepages-1Gi"}, 1 << 30},
		"none is requested":         {"HugePages", []corev1.ResourceName{"cpu"}, 0},
		"two are requested":         {"HugePages", []corev1.ResourceName{"hugepages-2Mi", "hugepages-1Gi"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			list := corev1.ResourceList{}
			for _, r := range tc.requests {
				list[r] = resource.MustParse("2Gi")
			}
			pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: list}}}}}
			got, err := pageSize(pod, tc.medium)
			if got != tc.want || (err == nil) != (tc.want > 0) {
				t.Errorf("%d, %v", got, err)
			}
		})
	}
}
