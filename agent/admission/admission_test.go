// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func cpuPod(name, cpu string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}}}},
	}
}

func TestAdmit(t *testing.T) {
	node := &corev1.Node{Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}}}
	a, b := cpuPod("a", "1500m"), cpuPod("b", "1")

	if err := Admit(a, nil, node); err != nil {
		t.Errorf("an empty node refuses a: %v", err)
	}
	if err := Admit(a, []*corev1.Pod{a}, node); err != nil {
		t.Errorf("a pod that is admitted already stands in its own way: %v", err)
	}
	err := Admit(b, []*corev1.Pod{a}, node)
	if err == nil || err.Reason != "OutOfcpu" {
		t.Errorf("b beside a: got %v, want OutOfcpu", err)
	}
}

// TestB098MemoryForNoProcess is told as that, not as the sandbox or the volume
// that would fail for it.
func TestB098MemoryForNoProcess(t *testing.T) {
	pod := cpuPod("a", "1")
	pod.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("128m")}
	if err := Admit(pod, nil, &corev1.Node{}); err == nil || err.Reason != "MemoryLimitTooSmall" {
		t.Errorf("got %v, want MemoryLimitTooSmall", err)
	}
}
