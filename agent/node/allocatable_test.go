// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestAllocatable(t *testing.T) {
	capacity := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("4Gi"), "hugepages-2Mi": resource.MustParse("1Gi"),
	}
	reserved := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("1Gi"), corev1.ResourceEphemeralStorage: resource.MustParse("1Gi"),
	}
	got := allocatable(capacity, reserved)
	for name, want := range map[corev1.ResourceName]string{corev1.ResourceCPU: "3500m", corev1.ResourceMemory: "2Gi", "hugepages-2Mi": "1Gi"} {
		if q := got[name]; q.Cmp(resource.MustParse(want)) != 0 {
			t.Errorf("%s: %s, want %s", name, q.String(), want)
		}
	}
	if len(got) != 3 || capacity.Cpu().Value() != 4 {
		t.Errorf("allocatable %v of %v", got, capacity)
	}
	if q := allocatable(capacity, corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("9")})[corev1.ResourceCPU]; !q.IsZero() {
		t.Errorf("more is reserved than there is: %s", q.String())
	}
}
