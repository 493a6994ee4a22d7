// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestAllocateExtended(t *testing.T) {
	const dongle = "example.com/dongle"
	two, four := resource.MustParse("2"), resource.MustParse("4")
	shared := corev1.ResourceList{corev1.ResourceCPU: two, "example.com/gone": two}
	status := corev1.NodeStatus{Capacity: corev1.ResourceList{corev1.ResourceCPU: four, dongle: four}, Allocatable: shared}
	AllocateExtended(&status)
	if diff := cmp.Diff(corev1.ResourceList{corev1.ResourceCPU: two, dongle: four}, status.Allocatable); diff != "" {
		t.Error(diff)
	}
	if len(shared) != 2 {
		t.Errorf("what others may hold was changed: %v", shared)
	}
}

func TestValidateNodeStatus(t *testing.T) {
	node := &corev1.Node{Status: corev1.NodeStatus{
		Capacity:    corev1.ResourceList{"example.com/dongle": resource.MustParse("500m")},
		Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("-1")},
	}}
	want := []string{
		`status.capacity[example.com/dongle]: Invalid value: "500m": must be an integer`,
		`status.allocatable[cpu]: Invalid value: "-1": must be greater than or equal to 0`,
	}
	if diff := cmp.Diff(want, texts(ValidateStatusUpdate(Nodes, node, &corev1.Node{}))); diff != "" {
		t.Error(diff)
	}
}
