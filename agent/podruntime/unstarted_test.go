// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/cri/fake"
	"github.com/berth-run/berth/agent/cri/fault"
	"github.com/berth-run/berth/agent/podtypes"
)

// brokenStart is what containerd shows of a start whose client died.
const brokenStart = "failed to create containerd task: failed to create shim task: context canceled"

func TestBrokenOff(t *testing.T) {
	for name, tc := range map[string]struct {
		status *runtimeapi.ContainerStatus
		want   bool
	}{
		"the client died":              {&runtimeapi.ContainerStatus{Reason: "StartError", Message: brokenStart}, true},
		"the client waited no longer":  {&runtimeapi.ContainerStatus{Reason: "StartError", Message: "failed to create containerd task: context deadline exceeded"}, true},
		"no such command":              {&runtimeapi.ContainerStatus{Reason: "StartError", Message: "failed to create containerd task: exec: no such file"}, false},
		"it may have had a process":    {&runtimeapi.ContainerStatus{Reason: "StartError", Message: `failed to start containerd task "c": context canceled`}, false},
		"it ran":                       {&runtimeapi.ContainerStatus{Reason: "StartError", Message: brokenStart, StartedAt: 1}, false},
		"its own words look like that": {&runtimeapi.ContainerStatus{Reason: "Error", Message: brokenStart}, false},
	} {
		if got := brokenOff(tc.status); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// An agent may be killed before any call of a pod's start, or after the runtime has
// done what the call asked. The next one finishes the work, and nothing counts as a
// restart: no container ran and ended.
func TestKilledBetweenAnyTwoCalls(t *testing.T) {
	for _, done := range []bool{false, true} {
		for n := range 5 {
			t.Run(fmt.Sprintf("call %d, done %t", n, done), func(t *testing.T) {
				h := newHarness(t)
				pod := testPod("web")
				h.killedAt(t, pod, n, done)
				h.mustRunUnrestarted(t, pod)
			})
		}
	}
}

// killedAt has an agent sync the pod that is killed at its nth call, from 0: the
// call is done or not, and none follows. h has the next agent.
func (h *harness) killedAt(t *testing.T, pod *corev1.Pod, n int, done bool) {
	t.Helper()
	at := fault.Rule{Skip: n, Times: 1, DropReply: done}
	if !done {
		at.Code = codes.Unavailable
	}
	alive := h.fake.Faults.Add(at)
	rest := h.fake.Faults.Add(fault.Rule{Skip: n, Code: codes.Unavailable})
	if r := h.SyncPod(t.Context(), pod, nil, nil); r.Err == nil {
		t.Fatal("no call failed")
	}
	alive()
	rest()
	h.Runtime = newRuntime(t, h, h.fake.Client())
}

// mustRunUnrestarted syncs the pod, of which each container must then run in its
// one sandbox as if it had been started at the first try.
func (h *harness) mustRunUnrestarted(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	h.mustSync(t, pod)
	s := h.status(t, pod)
	if len(s.Sandboxes) != 1 || len(s.Containers) != len(pod.Spec.Containers) {
		t.Fatalf("sandboxes %+v, containers %+v", s.Sandboxes, s.Containers)
	}
	for _, c := range s.Containers {
		log := filepath.Join(h.podLogDir(pod), c.Name, "0.log")
		if c.State != podtypes.ContainerRunning || c.RestartCount != 0 || c.LogPath != log {
			t.Errorf("%s: %+v", c.Name, c)
		}
		if logs, err := filepath.Glob(filepath.Join(filepath.Dir(log), "*")); err != nil || !slices.Equal(logs, []string{log}) {
			t.Errorf("logs %v, %v", logs, err)
		}
	}
}

// The agent was killed in the middle of StartContainer.
func TestBrokenStartIsNoRestart(t *testing.T) {
	for _, policy := range []corev1.RestartPolicy{corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever} {
		t.Run(string(policy), func(t *testing.T) {
			h := newHarness(t)
			pod := testPod("web")
			pod.Spec.RestartPolicy = policy
			h.fake.Script("web", fake.Process{StartError: brokenStart}, fake.Process{})
			h.sync(t, pod)
			if got := h.state(t, pod, "web"); got != podtypes.ContainerCreated {
				t.Fatalf("web is %q", got)
			}
			h.Runtime = newRuntime(t, h, h.fake.Client())
			h.mustRunUnrestarted(t, pod)
		})
	}
}

// Neither was what a lost sandbox held a run of it.
func TestUnstartedInAFormerSandboxIsNoRestart(t *testing.T) {
	h := newHarness(t)
	pod := testPod("web")
	h.killedAt(t, pod, 4, false) // at StartContainer
	h.fake.BreakSandbox(h.status(t, pod).Current().ID)
	h.mustSync(t, pod)
	s := h.status(t, pod)
	if c := s.Latest("web"); c.State != podtypes.ContainerRunning || c.RestartCount != 0 || c.SandboxID != s.Current().ID {
		t.Errorf("web: %+v", c)
	}
}

// What was made in place of an ended container and not started is one restart with
// what then is.
func TestUnstartedRestartCountsOnce(t *testing.T) {
	h := newHarness(t)
	pod := testPod("web")
	h.mustSync(t, pod)
	h.fake.Exit(h.status(t, pod).Latest("web").ID, fake.Exit{Code: 1})
	h.fake.Faults.Add(fault.Rule{Method: "StartContainer", Times: 1, Code: codes.Unavailable})
	h.sync(t, pod)
	h.mustSync(t, pod)
	if c := h.status(t, pod).Latest("web"); c.State != podtypes.ContainerRunning || c.RestartCount != 1 {
		t.Errorf("web: %+v", c)
	}
}
