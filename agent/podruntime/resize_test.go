// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/agent/resize"
)

// limitedPod has a container of these limits, which it also requests.
func limitedPod(cpu, memory string, policies ...corev1.ContainerResizePolicy) *corev1.Pod {
	pod := testPod("web", "db")
	c := &pod.Spec.Containers[0]
	c.ResizePolicy = policies
	c.Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
	c.Resources.Requests = c.Resources.Limits.DeepCopy()
	return pod
}

func TestResizeInPlace(t *testing.T) {
	h := newHarness(t)
	h.mustSync(t, limitedPod("1", "64Mi"))
	id := h.fake.ContainerIDs("web")[0]
	resized := limitedPod("2", "32Mi")
	if r := h.mustSync(t, resized); !r.Changed || r.ResizeError != "" {
		t.Errorf("%+v", r)
	}
	status := h.status(t, resized)
	if changes := resize.Changes(resized, status); len(changes) != 0 {
		t.Errorf("still to change: %+v", changes)
	}
	want := podtypes.ContainerResources{CPUShares: 2048, CPUQuota: 200000, CPUPeriod: 100000, MemoryLimit: 32 << 20}
	if got := status.Latest("web"); got.ID != id || *got.Resources != want {
		t.Errorf("container %s with %+v, want %s with %+v", got.ID, got.Resources, id, want)
	}
	if n := len(h.fake.Calls("UpdateContainerResources")); n != 1 {
		t.Errorf("%d updates, want that of one container", n)
	}
	if r := h.mustSync(t, resized); r.Changed {
		t.Error("the next sync does something again")
	}
}

func TestResizeBelowWhatIsUsed(t *testing.T) {
	h := newHarness(t)
	h.mustSync(t, limitedPod("1", "64Mi"))
	h.fake.UseMemory(h.fake.ContainerIDs("web")[0], 40<<20)
	r := h.sync(t, limitedPod("1", "32Mi"))
	const want = `cannot decrease memory limits: attempting to set container "web" memory limit (33554432) below current usage (41943040)`
	if r.Err == nil || r.ResizeError != want {
		t.Errorf("error %v: %q", r.Err, r.ResizeError)
	}
	if n := len(h.fake.Calls("UpdateContainerResources")); n != 0 {
		t.Errorf("%d updates", n)
	}
}

func TestResizeThatRestarts(t *testing.T) {
	restart := corev1.ContainerResizePolicy{ResourceName: corev1.ResourceMemory, RestartPolicy: corev1.RestartContainer}
	h := newHarness(t)
	h.mustSync(t, limitedPod("1", "64Mi", restart))
	h.mustSync(t, limitedPod("2", "64Mi", restart))
	if ids := h.fake.ContainerIDs("web"); len(ids) != 1 {
		t.Fatalf("cpu restarts it: %v", ids)
	}
	pod := limitedPod("2", "128Mi", restart)
	h.mustSync(t, pod)
	got := h.status(t, pod).Latest("web")
	if len(h.fake.ContainerIDs("web")) != 2 || got.State != podtypes.ContainerRunning || got.Resources.MemoryLimit != 128<<20 {
		t.Errorf("%+v", got)
	}
	if len(h.fake.ContainerIDs("db")) != 1 {
		t.Error("the other container was restarted")
	}
	if !h.events.has("Killing spec.containers{web}") {
		t.Errorf("events: %v", h.events.all)
	}
}
