// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/berth-run/berth/agent/podtypes"
)

func manifest(t *testing.T, text string) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{}
	if err := yaml.UnmarshalStrict([]byte(text), pod); err != nil {
		t.Fatal(err)
	}
	return pod
}

// running is a reading of a pod whose container c has these figures.
func running(r *podtypes.ContainerResources) *podtypes.PodStatus {
	return &podtypes.PodStatus{Containers: []podtypes.ContainerStatus{{
		Container: podtypes.Container{Name: "c", State: podtypes.ContainerRunning}, Resources: r,
	}}}
}

func TestFigures(t *testing.T) {
	for name, tc := range map[string]struct {
		spec string
		want podtypes.ContainerResources
	}{
		"nothing": {`containers: [{name: c}]`, podtypes.ContainerResources{CPUShares: 2, CPUPeriod: 100000}},
		"request": {`containers: [{name: c, resources: {requests: {cpu: 250m, memory: 1Gi}}}]`,
			podtypes.ContainerResources{CPUShares: 256, CPUPeriod: 100000}},
		"limit alone": {`containers: [{name: c, resources: {limits: {cpu: 1m, memory: 64Mi}}}]`,
			podtypes.ContainerResources{CPUShares: 2, CPUQuota: 1000, CPUPeriod: 100000, MemoryLimit: 64 << 20}},
		"the pod's limits": {`{resources: {limits: {cpu: 2, memory: 64Mi}}, containers: [{name: c, resources: {limits: {cpu: 1}}}]}`,
			podtypes.ContainerResources{CPUShares: 1024, CPUQuota: 100000, CPUPeriod: 100000, MemoryLimit: 64 << 20}},
	} {
		pod := &corev1.Pod{}
		if err := yaml.UnmarshalStrict([]byte(tc.spec), &pod.Spec); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, Figures(pod, &pod.Spec.Containers[0])); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestActual(t *testing.T) {
	pod := manifest(t, `spec: {containers: [{name: c, resources: {requests: {cpu: "0.5", memory: 32Mi}, limits: {cpu: 1, memory: 64Mi}}}]}`)
	c := &pod.Spec.Containers[0]
	same := Figures(pod, c)
	for name, tc := range map[string]struct {
		have *podtypes.ContainerResources
		want string
	}{
		"told nothing": {nil, `{requests: {cpu: 500m, memory: 32Mi}, limits: {cpu: 1, memory: 64Mi}}`},
		"as allocated": {&same, `{requests: {cpu: 500m, memory: 32Mi}, limits: {cpu: 1, memory: 64Mi}}`},
		"as before": {&podtypes.ContainerResources{CPUShares: 102, CPUQuota: 25000, CPUPeriod: 100000, MemoryLimit: 16 << 20},
			`{requests: {cpu: 100m, memory: 32Mi}, limits: {cpu: 250m, memory: 16Mi}}`},
		"without limits": {&podtypes.ContainerResources{CPUShares: 512, CPUPeriod: 100000}, `{requests: {cpu: 500m, memory: 32Mi}, limits: {}}`},
	} {
		got := Actual(pod, c, tc.have)
		var want corev1.ResourceRequirements
		if err := yaml.Unmarshal([]byte(tc.want), &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestChanges(t *testing.T) {
	pod := manifest(t, `spec: {containers: [{name: c, resources: {requests: {cpu: 1}, limits: {memory: 64Mi}},
		resizePolicy: [{resourceName: memory, restartPolicy: RestartContainer}]}]}`)
	for name, tc := range map[string]struct {
		have             *podtypes.ContainerResources
		changes, restart bool
	}{
		"told nothing":  {nil, false, false},
		"none":          {&podtypes.ContainerResources{CPUShares: 1024, CPUPeriod: 100000, MemoryLimit: 64 << 20}, false, false},
		"no quota":      {&podtypes.ContainerResources{CPUShares: 1024, CPUQuota: -1, CPUPeriod: 50000, MemoryLimit: 64 << 20}, false, false},
		"cpu":           {&podtypes.ContainerResources{CPUShares: 512, CPUPeriod: 100000, MemoryLimit: 64 << 20}, true, false},
		"memory":        {&podtypes.ContainerResources{CPUShares: 1024, CPUPeriod: 100000, MemoryLimit: 32 << 20}, true, true},
		"a quota to go": {&podtypes.ContainerResources{CPUShares: 1024, CPUQuota: 1000, CPUPeriod: 100000, MemoryLimit: 64 << 20}, true, false},
	} {
		changes := Changes(pod, running(tc.have))
		if len(changes) > 0 != tc.changes || tc.changes && changes[0].Restarts() != tc.restart {
			t.Errorf("%s: %+v", name, changes)
		}
	}
}

func TestWidest(t *testing.T) {
	pod := manifest(t, `spec: {containers: [{name: c, resources: {requests: {cpu: 100m}, limits: {cpu: 200m, memory: 64Mi}}}]}`)
	if Widest(pod, nil) != pod {
		t.Error("a pod without changes is another")
	}
	for name, tc := range map[string]struct {
		have podtypes.ContainerResources
		want string
	}{
		"up and down": {podtypes.ContainerResources{CPUShares: 1024, CPUQuota: 150000, CPUPeriod: 100000, MemoryLimit: 32 << 20},
			`{requests: {cpu: 1}, limits: {cpu: 1500m, memory: 64Mi}}`},
		"no limits before": {podtypes.ContainerResources{CPUShares: 102, CPUPeriod: 100000}, `{requests: {cpu: 100m}, limits: {}}`},
	} {
		var want corev1.ResourceRequirements
		if err := yaml.Unmarshal([]byte(tc.want), &want); err != nil {
			t.Fatal(err)
		}
		got := Widest(pod, Changes(pod, running(&tc.have)))
		if diff := cmp.Diff(want, got.Spec.Containers[0].Resources); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// A pod's limit that was larger is still that of a container without one.
func TestWidestOfAWholePod(t *testing.T) {
	pod := manifest(t, `spec: {resources: {limits: {cpu: 1}}, containers: [{name: c}]}`)
	wide := Widest(pod, Changes(pod, running(&podtypes.ContainerResources{CPUShares: 2, CPUQuota: 200000, CPUPeriod: 100000})))
	if got := wide.Spec.Resources.Limits.Cpu().MilliValue(); got != 2000 {
		t.Errorf("%dm, want 2000m", got)
	}
}

func TestRestored(t *testing.T) {
	const spec = `{containers: [{name: c, resources: {requests: {cpu: 2}, limits: {cpu: 4}}}]}`
	for name, tc := range map[string]struct{ status, want string }{
		"never reported": {`{}`, `{requests: {cpu: 2}, limits: {cpu: 4}}`},
		"waits": {`{containerStatuses: [{name: c, allocatedResources: {cpu: 1}, resources: {requests: {cpu: 1}, limits: {cpu: 3}}}]}`,
			`{requests: {cpu: 1}, limits: {cpu: 3}}`},
		"has begun": {`{containerStatuses: [{name: c, allocatedResources: {cpu: 2}, resources: {requests: {cpu: 1}, limits: {cpu: 3}}}]}`,
			`{requests: {cpu: 2}, limits: {cpu: 4}}`},
		"is done": {`{containerStatuses: [{name: c, allocatedResources: {cpu: 2}, resources: {requests: {cpu: 2}, limits: {cpu: 4}}}]}`,
			`{requests: {cpu: 2}, limits: {cpu: 4}}`},
		"waits, for a reason other than its requests": {`{conditions: [{type: PodResizePending, reason: Infeasible, status: "True"}],
			containerStatuses: [{name: c, allocatedResources: {cpu: 2}, resources: {requests: {cpu: 2}, limits: {cpu: 3}}}]}`,
			`{requests: {cpu: 2}, limits: {cpu: 3}}`},
	} {
		pod := manifest(t, "{spec: "+spec+", status: "+tc.status+"}")
		want := manifest(t, "{spec: {containers: [{name: c, resources: "+tc.want+"}]}, status: "+tc.status+"}")
		before := pod.DeepCopy()
		if diff := cmp.Diff(want, Restored(pod)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if diff := cmp.Diff(before, pod); diff != "" {
			t.Errorf("%s: the pod itself was changed: %s", name, diff)
		}
	}
}

func TestProgress(t *testing.T) {
	var p Progress
	why := func() *podtypes.RejectError { return &podtypes.RejectError{Reason: "Deferred"} }
	if !p.SetPending("a", why()) || p.SetPending("a", why()) || !p.SetPending("a", nil) || p.SetPending("a", nil) {
		t.Error("only what changes is news")
	}
	p.SetError("a", "failed")
	p.SetPending("b", why())
	p.Retain(func(uid types.UID) bool { return uid == "a" })
	if p.Of("a").Err != "failed" || p.Of("b").Pending != nil {
		t.Errorf("a %v, b %v", p.Of("a"), p.Of("b"))
	}
	p.SetError("a", "")
	if len(p.pods) != 0 {
		t.Errorf("what is over is held: %v", p.pods)
	}
}
