// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/cri/fake"
	"github.com/berth-run/berth/agent/cri/fault"
	"github.com/berth-run/berth/agent/podtypes"
)

// sandboxEnds is a pod of one container, web, whose sandboxes end.
type sandboxEnds struct {
	*harness
	t   *testing.T
	pod *corev1.Pod
}

func newSandboxEnds(t *testing.T) *sandboxEnds {
	s := &sandboxEnds{newHarness(t), t, testPod("web")}
	s.mustSync(t, s.pod)
	return s
}

func (s *sandboxEnds) crash() time.Duration {
	s.t.Helper()
	s.fake.Exit(s.status(s.t, s.pod).Latest("web").ID, fake.Exit{Code: 137})
	return s.mustSync(s.t, s.pod).RetryAfter
}

func (s *sandboxEnds) end() { s.fake.BreakSandbox(s.status(s.t, s.pod).Current().ID) }

// startsAnew: the next sync runs the container in a new sandbox.
func (s *sandboxEnds) startsAnew() {
	s.t.Helper()
	before := s.status(s.t, s.pod).Current().ID
	if wait := s.mustSync(s.t, s.pod).RetryAfter; wait != 0 {
		s.t.Errorf("the container waits %s", wait)
	}
	after := s.status(s.t, s.pod)
	if c := after.Latest("web"); after.Current().ID == before || c.State != podtypes.ContainerRunning {
		s.t.Errorf("sandbox %s, before %s; web %q", after.Current().ID, before, c.State)
	}
}

// Whoever stops a sandbox stops its containers first: until that shows, they are
// restarted in it, and end once more.
func TestEndWithTheSandboxIsNoCrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSandboxEnds(t)
		s.crash()
		s.crash()
		s.end()
		s.startsAnew()
		if wait := s.crash(); wait != 0 {
			t.Errorf("its first crash waits %s", wait)
		}
		if wait := s.crash(); wait != firstCrashDelay {
			t.Errorf("its second crash waits %s", wait)
		}
	})
}

// The restart in the ending sandbox may fail. Then it is none.
func TestStartInAnEndingSandboxIsNoRestart(t *testing.T) {
	h := newHarness(t)
	pod := testPod("web")
	h.fake.Script("web", fake.Process{}, fake.Process{StartError: "namespace path: no such file"}, fake.Process{})
	s := &sandboxEnds{h, t, pod}
	h.mustSync(t, pod)
	h.fake.Exit(h.status(t, pod).Latest("web").ID, fake.Exit{Code: 137})
	if r := h.sync(t, pod); r.Err == nil {
		t.Fatal("the start did not fail")
	}
	s.end()
	s.startsAnew()
	if c := h.status(t, pod).Latest("web"); c.RestartCount != 1 || filepath.Base(c.LogPath) != "1.log" {
		t.Errorf("web: %+v", c)
	}
}

// What the agent itself stops with a sandbox did not crash, however long the next
// one takes to come.
func TestStoppedWithTheSandboxIsNoCrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSandboxEnds(t)
		mend := s.fake.Faults.Add(fault.Rule{Method: "RunPodSandbox", Code: codes.Unknown})
		s.end()
		for range 3 {
			if r := s.sync(t, s.pod); r.Err == nil || r.RetryAfter != 0 {
				t.Fatalf("without a sandbox: %+v", r)
			}
			time.Sleep(time.Minute)
		}
		mend()
		s.startsAnew()
		if wait := s.crash(); wait != 0 {
			t.Errorf("its first crash waits %s", wait)
		}
	})
}

// A container that crashed before its sandbox ended waits on.
func TestSandboxEndsNoBackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSandboxEnds(t)
		s.crash()
		if wait := s.crash(); wait != firstCrashDelay {
			t.Fatalf("the second crash waits %s", wait)
		}
		time.Sleep(together + time.Second)
		s.end()
		if wait := s.mustSync(t, s.pod).RetryAfter; wait != firstCrashDelay-together-time.Second {
			t.Errorf("in a new sandbox it waits %s", wait)
		}
		time.Sleep(firstCrashDelay)
		s.startsAnew()
		if wait := s.crash(); wait != 2*firstCrashDelay {
			t.Errorf("its third crash waits %s", wait)
		}
	})
}

// A container that takes its sandbox along each time is held back all the same.
func TestSandboxesThatEndAllTheTimeAreNoExcuse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSandboxEnds(t)
		took := func() time.Duration {
			began := time.Now()
			s.fake.Exit(s.status(t, s.pod).Latest("web").ID, fake.Exit{Code: 1})
			s.end()
			for s.state(t, s.pod, "web") != podtypes.ContainerRunning {
				time.Sleep(s.mustSync(t, s.pod).RetryAfter)
			}
			return time.Since(began)
		}
		var total time.Duration
		for range 5 { // at once, at once, 10 s, 20 s, 40 s
			total += took()
		}
		if want := 7 * firstCrashDelay; total != want {
			t.Errorf("five sandboxes ended within %s, want %s", total, want)
		}
	})
}

// Nothing is started in a sandbox that is to be stopped, also when that fails.
func TestNothingStartsInASandboxToBeStopped(t *testing.T) {
	h := newHarness(t)
	pod := testPod("web")
	h.mustSync(t, pod)
	h.fake.DropAddress(h.status(t, pod).Current().ID)
	h.fake.Faults.Add(fault.Rule{Method: "StopPodSandbox", Times: 2, Code: codes.Internal})
	h.fake.ForgetCalls()
	for range 2 {
		if r := h.sync(t, pod); r.Err == nil {
			t.Fatal("the sandbox was stopped")
		}
	}
	if calls := h.fake.Calls("CreateContainer", "StartContainer"); len(calls) > 0 {
		t.Errorf("calls %v", calls)
	}
	if r := h.mustSync(t, pod); r.RetryAfter != 0 {
		t.Errorf("the container waits %s", r.RetryAfter)
	}
	if got := h.state(t, pod, "web"); got != podtypes.ContainerRunning {
		t.Errorf("web is %q", got)
	}
}
