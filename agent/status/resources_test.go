// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/api"
)

func cpu(text string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(text)}
}

// resizing is a pod that was allocated one CPU, and a reading of a container that has
// the shares.
func resizing(shares int64) Input {
	pod := &corev1.Pod{}
	pod.Generation = 2
	pod.Spec.Containers = []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: cpu("1")}}}
	return Input{Pod: pod, Runtime: &podtypes.PodStatus{Containers: []podtypes.ContainerStatus{{
		Container: podtypes.Container{ID: "1", Name: "c", State: podtypes.ContainerRunning},
		Resources: &podtypes.ContainerResources{CPUShares: shares, CPUPeriod: 100000},
	}}}}
}

func TestResourcesOfContainers(t *testing.T) {
	for name, tc := range map[string]struct {
		shares int64
		actual string
		under  bool
	}{"as allocated": {1024, "1", false}, "as before": {512, "500m", true}} {
		status := Generate(resizing(tc.shares))
		s := status.ContainerStatuses[0]
		if diff := cmp.Diff(cpu("1"), s.AllocatedResources); diff != "" {
			t.Errorf("%s: allocated: %s", name, diff)
		}
		if diff := cmp.Diff(&corev1.ResourceRequirements{Requests: cpu(tc.actual)}, s.Resources); diff != "" {
			t.Errorf("%s: actual: %s", name, diff)
		}
		if c := api.PodCondition(&status, corev1.PodResizeInProgress); (c != nil) != tc.under {
			t.Errorf("%s: condition %v", name, c)
		}
	}
}

func TestResizeConditions(t *testing.T) {
	for name, tc := range map[string]struct {
		resizing podtypes.Resizing
		want     []string
	}{
		"is done":    {podtypes.Resizing{}, nil},
		"waits":      {podtypes.Resizing{Pending: &podtypes.RejectError{Reason: "Deferred", Message: "no room"}}, []string{"PodResizePending True Deferred no room"}},
		"has failed": {podtypes.Resizing{Err: "busy"}, []string{"PodResizeInProgress True Error busy"}},
		"both at once": {podtypes.Resizing{Pending: &podtypes.RejectError{Reason: "Infeasible"}, Err: "busy"},
			[]string{"PodResizePending True Infeasible ", "PodResizeInProgress True Error busy"}},
	} {
		in := resizing(1024)
		in.Resizing = tc.resizing
		// Whatever was before is over.
		in.Previous = &corev1.PodStatus{Conditions: []corev1.PodCondition{
			{Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: "Old"}, {Type: corev1.PodResizeInProgress, Status: corev1.ConditionTrue, Reason: "Old"},
		}}
		var got []string
		for _, c := range Generate(in).Conditions {
			if api.IsResizeCondition(c.Type) {
				got = append(got, string(c.Type)+" "+string(c.Status)+" "+c.Reason+" "+c.Message)
				if c.ObservedGeneration != 2 {
					t.Errorf("%s: %s of generation %d", name, c.Type, c.ObservedGeneration)
				}
			}
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestResourcesOfAWholePod(t *testing.T) {
	in := resizing(1024)
	in.Pod.Spec.Resources = &corev1.ResourceRequirements{Requests: cpu("2"), Limits: cpu("3")}
	status := Generate(in)
	if diff := cmp.Diff(in.Pod.Spec.Resources, status.Resources); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(cpu("2"), status.AllocatedResources); diff != "" {
		t.Error(diff)
	}
}
