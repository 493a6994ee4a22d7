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

	if err := Admit(a, nil, node, machine(t)); err != nil {
		t.Errorf("an empty node refuses a: %v", err)
	}
	if err := Admit(a, []*corev1.Pod{a}, node, machine(t)); err != nil {
		t.Errorf("a pod that is admitted already stands in its own way: %v", err)
	}
	err := Admit(b, []*corev1.Pod{a}, node, machine(t))
	if err == nil || err.Reason != "OutOfcpu" {
		t.Errorf("b beside a: got %v, want OutOfcpu", err)
	}
}

func TestAdmitByAllocationNotByStatus(t *testing.T) {
	node := &corev1.Node{Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}}}
	shrunk := cpuPod("a", "500m")
	shrunk.Status.ContainerStatuses = []corev1.ContainerStatus{{AllocatedResources: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}}}
	if err := Admit(cpuPod("b", "1"), []*corev1.Pod{shrunk}, node, Machine{}); err != nil {
		t.Errorf("beside a pod that was larger once: %v", err)
	}
}

// TestAdmitExtendedResources: they are the scheduler's to count, until the node's
// own record has them.
func TestAdmitExtendedResources(t *testing.T) {
	pod := cpuPod("a", "1")
	pod.Spec.Containers[0].Resources.Requests["example.com/dongle"] = resource.MustParse("2")
	node := &corev1.Node{Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}}}
	if err := Admit(pod, nil, node, machine(t)); err != nil {
		t.Errorf("unknown to the node: %v", err)
	}
	node.Status.Allocatable["example.com/dongle"] = resource.MustParse("1")
	if err := Admit(pod, nil, node, machine(t)); err == nil || err.Reason != "OutOfexample.com/dongle" {
		t.Errorf("too few on the node: got %v", err)
	}
	if _, ok := pod.Spec.Containers[0].Resources.Requests["example.com/dongle"]; !ok {
		t.Error("the pod itself was changed")
	}
}

// TestB098MemoryForNoProcess is told as that, not as the sandbox or the volume
// that would fail for it.
func TestB098MemoryForNoProcess(t *testing.T) {
	pod := cpuPod("a", "1")
	pod.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("128m")}
	if err := Admit(pod, nil, &corev1.Node{}, machine(t)); err == nil || err.Reason != "MemoryLimitTooSmall" {
		t.Errorf("got %v, want MemoryLimitTooSmall", err)
	}
}
