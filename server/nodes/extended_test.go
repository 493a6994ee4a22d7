// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// What users count on a node outlives the reports of its agent, and follows when they
// count anew.
func TestMergeStatusKeepsExtendedResources(t *testing.T) {
	const dongle, leaf = "example.com/dongle", "example.com/leaf"
	list := func(cpu, name, count string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceName(name): resource.MustParse(count)}
	}
	stored := corev1.NodeStatus{Capacity: list("2", dongle, "4"), Allocatable: list("2", leaf, "1")}
	reported := corev1.NodeStatus{
		Capacity: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("3")}, Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("3")},
	}
	merged := mergeStatus(&stored, &reported)
	for _, l := range []corev1.ResourceList{merged.Capacity, merged.Allocatable} {
		if q := l[dongle]; len(l) != 2 || q.Value() != 4 || l.Cpu().Value() != 3 {
			t.Errorf("%v", l)
		}
	}
	if len(reported.Capacity) != 1 {
		t.Error("the report itself was changed")
	}
}
