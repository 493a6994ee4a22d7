// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/berth-run/berth/agent/podtypes"
)

func TestResize(t *testing.T) {
	node := &corev1.Node{Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("1Gi"),
	}}}
	beside := []*corev1.Pod{cpuPod("a", "500m"), cpuPod("b", "1")}
	tooSmall := cpuPod("a", "1")
	tooSmall.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64")}
	hungry := cpuPod("a", "1")
	hungry.Spec.Containers[0].Resources.Requests[corev1.ResourceMemory] = resource.MustParse("2Gi")
	for name, tc := range map[string]struct {
		pod  *corev1.Pod
		want *podtypes.RejectError
	}{
		"there is room": {cpuPod("a", "1"), nil},
		"others have it": {cpuPod("a", "1500m"),
			&podtypes.RejectError{Reason: "Deferred", Message: "Node didn't have enough resource: cpu, requested: 1500, used: 1000, capacity: 2000"}},
		"the node never has it": {cpuPod("a", "3"),
			&podtypes.RejectError{Reason: "Infeasible", Message: "Node didn't have enough capacity: cpu, requested: 3000, capacity: 2000"}},
		"nor the memory": {hungry,
			&podtypes.RejectError{Reason: "Infeasible", Message: "Node didn't have enough capacity: memory, requested: 2147483648, capacity: 1073741824"}},
		"memory for no process": {tooSmall, &podtypes.RejectError{Reason: "Infeasible",
			Message: "spec.containers[0].resources.limits[memory]: 64 is less than the 1Mi that a process needs to start; did you mean 64Mi?"}},
	} {
		if diff := cmp.Diff(tc.want, Resize(tc.pod, beside, node)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
