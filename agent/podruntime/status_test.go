// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/cri/fake"
	"github.com/berth-run/berth/agent/cri/fault"
	"github.com/berth-run/berth/agent/podtypes"
)

func TestPodStatusOfAnUnknownPodIsEmpty(t *testing.T) {
	s, err := newHarness(t).PodStatus(t.Context(), "nobody")
	if err != nil || len(s.Sandboxes)+len(s.Containers) > 0 || s.At.IsZero() {
		t.Errorf("status %+v, %v", s, err)
	}
}

func TestPodStatusTellsHowAContainerEnded(t *testing.T) {
	h := newHarness(t)
	pod := testPod("web")
	h.mustSync(t, pod)
	write(t, filepath.Join(h.dir, "pods", "uid-1", "containers", "web", "0"), "out of \xffcoffee")
	h.fake.Exit(h.status(t, pod).Latest("web").ID, fake.Exit{Code: 3})
	got := h.status(t, pod).Latest("web")
	if got.State != podtypes.ContainerExited || got.ExitCode != 3 || got.Reason != "Error" || got.Message != "out of \uFFFDcoffee" {
		t.Errorf("web: %+v", got)
	}
	if got.Image != testImage || got.StartedAt.IsZero() || got.FinishedAt.IsZero() || got.RestartCount != 0 {
		t.Errorf("web: %+v", got)
	}
}

func TestPodStatusLeavesOutWhatWentMeanwhile(t *testing.T) {
	h := newHarness(t)
	pod := testPod("web")
	h.mustSync(t, pod)
	h.fake.Faults.Add(fault.Rule{Method: "ContainerStatus", Code: codes.NotFound})
	h.fake.Faults.Add(fault.Rule{Method: "PodSandboxStatus", Code: codes.NotFound})
	if s := h.status(t, pod); len(s.Containers)+len(s.Sandboxes) > 0 {
		t.Errorf("status: %+v", s)
	}
}

// What another node, or nobody, made in the same runtime is not ours.
func TestForeignPodsAreIgnored(t *testing.T) {
	h := newHarness(t)
	other := newRuntime(t, h, h.fake.Client())
	other.cfg.NodeID = "deadbeef"
	pod := testPod("web")
	if r := other.SyncPod(t.Context(), pod, nil, nil); r.Err != nil {
		t.Fatal(r.Err)
	}
	pods, err := h.ListPods(t.Context())
	if err != nil || len(pods) > 0 {
		t.Errorf("pods %v, %v", pods, err)
	}
	if s := h.status(t, pod); len(s.Containers)+len(s.Sandboxes) > 0 {
		t.Errorf("status: %+v", s)
	}
	if err := h.RemovePod(t.Context(), pod.UID); err != nil || len(h.fake.SandboxIDs()) != 1 {
		t.Errorf("sandboxes left: %v, %v", h.fake.SandboxIDs(), err)
	}
}

func TestListPods(t *testing.T) {
	h := newHarness(t)
	for _, uid := range []types.UID{"uid-2", "uid-1"} {
		pod := testPod("web")
		pod.UID, pod.Name = uid, "pod-"+string(uid)
		h.mustSync(t, pod)
		h.fake.Exit(h.status(t, pod).Latest("web").ID, fake.Exit{Code: 1})
		h.mustSync(t, pod)
	}
	h.fake.ForgetCalls()
	pods, err := h.ListPods(t.Context())
	if err != nil || len(pods) != 2 {
		t.Fatalf("pods %v, %v", pods, err)
	}
	if calls := h.fake.Calls(); len(calls) != 2 {
		t.Errorf("it took the calls %v", calls)
	}
	p := pods[0]
	if p.UID != "uid-1" || p.Name != "pod-uid-1" || p.Namespace != "default" || !p.Running() {
		t.Errorf("first: %+v", p)
	}
	if c := p.Containers; len(c) != 2 || c[0].Attempt != 1 || c[0].State != podtypes.ContainerRunning || c[1].State != podtypes.ContainerExited {
		t.Errorf("containers: %+v", c)
	}
}

func TestWatchEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		var seen []types.UID
		ended := make(chan error)
		ctx, cancel := context.WithCancel(t.Context())
		watch := func() { ended <- h.WatchEvents(ctx, func(hint podtypes.Hint) { seen = append(seen, hint.UID) }) }
		go watch()
		synctest.Wait()
		h.mustSync(t, testPod("web"))
		synctest.Wait()
		if !slices.Contains(seen, "uid-1") {
			t.Errorf("seen %v", seen)
		}
		h.fake.BreakEvents()
		if err := <-ended; err == nil {
			t.Error("a broken stream ended without an error")
		}
		go watch()
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(ctx.Err(), context.Canceled) || err == nil {
			t.Errorf("ended with %v", err)
		}
	})
}

func TestCleanUpContainers(t *testing.T) {
	h := newHarness(t)
	pod := testPod("web")
	log := func(n string) string { return filepath.Join(h.podLogDir(pod), "web", n) }
	for _, n := range []string{"0.log", "1.log", "2.log", "3.log"} {
		h.crashes.forget(pod.UID)
		h.mustSync(t, pod)
		if n != "3.log" {
			h.fake.Exit(h.status(t, pod).Latest("web").ID, fake.Exit{Code: 1})
		}
	}
	write(t, log("0.log.20260101"), "")
	s := h.status(t, pod)
	if err := h.CleanUpContainers(t.Context(), pod, s); err != nil {
		t.Fatal(err)
	}
	var left []uint32
	for _, c := range h.status(t, pod).Containers {
		left = append(left, c.Attempt)
	}
	if want := []uint32{3, 2}; !slices.Equal(left, want) {
		t.Errorf("attempts left %v, want %v", left, want)
	}
	logs, err := filepath.Glob(log("*"))
	if want := []string{log("2.log"), log("3.log")}; err != nil || !slices.Equal(logs, want) {
		t.Errorf("logs left %v, %v", logs, err)
	}
}

func TestGarbage(t *testing.T) {
	s := &podtypes.PodStatus{
		Sandboxes: []podtypes.SandboxStatus{ready("s2", 2), notReady("s1", 1), notReady("s0", 0)},
		Containers: []podtypes.ContainerStatus{
			running("a", of("s2")),
			in(podtypes.ContainerCreated, "b", of("s2")), // may be starting now
			exited(0, "a", of("s1")),
			in(podtypes.ContainerCreated, "b", of("s1")), // is the next sync's to remove
			exited(0, "a", of("s0")),
		},
	}
	containers, sandboxes := garbage(s)
	var ids []string
	for _, c := range containers {
		ids = append(ids, c.Name+" of "+c.SandboxID)
	}
	if want := []string{"a of s0"}; !slices.Equal(ids, want) {
		t.Errorf("containers %v, want %v", ids, want)
	}
	if want := []string{"s0"}; !slices.Equal(sandboxes, want) {
		t.Errorf("sandboxes %v, want %v", sandboxes, want)
	}
}

// Neither a lost record nor a lost log makes a restart count fall.
func TestRestartCountNeverFalls(t *testing.T) {
	h := newHarness(t)
	pod := testPod("web")
	write(t, filepath.Join(h.podLogDir(pod), "web", "6.log"), "")
	write(t, filepath.Join(h.podLogDir(pod), "web", "5.log.20260101.gz"), "")
	h.mustSync(t, pod)
	if c := h.status(t, pod).Latest("web"); c.RestartCount != 7 {
		t.Fatalf("restart count %d, want 7", c.RestartCount)
	}
	if err := os.RemoveAll(h.podLogDir(pod)); err != nil {
		t.Fatal(err)
	}
	h.fake.Exit(h.status(t, pod).Latest("web").ID, fake.Exit{Code: 1})
	h.mustSync(t, pod)
	if c := h.status(t, pod).Latest("web"); c.RestartCount != 8 {
		t.Errorf("restart count %d, want 8", c.RestartCount)
	}
}

func TestKillPodStopsAllContainersAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		pod := testPod("a", "b", "c")
		for _, name := range []string{"a", "b"} {
			h.fake.Script(name, fake.Process{IgnoreTerm: true})
		}
		h.mustSync(t, pod)
		start := time.Now()
		if err := h.KillPod(t.Context(), pod, h.status(t, pod), 2500*time.Millisecond); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("took %s, want the grace in whole seconds", took)
		}
		s := h.status(t, pod)
		if s.Running() || s.Latest("a").ExitCode != 137 || s.Latest("c").ExitCode != 0 {
			t.Errorf("status: %+v", s.Containers)
		}
	})
}

func TestKillPodWithoutGraceKillsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		pod := testPod("a")
		h.fake.Script("a", fake.Process{IgnoreTerm: true})
		h.mustSync(t, pod)
		start := time.Now()
		if err := h.KillPod(t.Context(), nil, h.status(t, pod), 0); err != nil || time.Since(start) != 0 {
			t.Errorf("took %s: %v", time.Since(start), err)
		}
	})
}

// Stopping the sandbox would take the grace away from a container that is ending.
func TestKillPodCalledOffLeavesTheSandbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		pod := testPod("a")
		h.fake.Script("a", fake.Process{IgnoreTerm: true})
		h.mustSync(t, pod)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := h.KillPod(ctx, pod, h.status(t, pod), time.Minute); err == nil {
			t.Error("no error")
		}
		if calls := h.fake.Calls("StopPodSandbox"); len(calls) > 0 {
			t.Errorf("calls: %v", calls)
		}
	})
}

// A runtime that hangs on one container fails its pod and no other.
func TestHungStopEndsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		pod := testPod("a")
		h.mustSync(t, pod)
		h.fake.Faults.Add(fault.Rule{Method: "StopContainer", Hang: true})
		start := time.Now()
		if err := h.KillPod(t.Context(), pod, h.status(t, pod), 10*time.Second); err == nil || time.Since(start) > 3*time.Minute {
			t.Errorf("after %s: %v", time.Since(start), err)
		}
	})
}

func TestStatusOfTheRuntime(t *testing.T) {
	h := newHarness(t)
	if s, err := h.Status(t.Context()); err != nil || !s.Ready || !s.NetworkReady || s.Reason != "" {
		t.Errorf("status %+v, %v", s, err)
	}
	h.fake.SetReady(false)
	if s, err := h.Status(t.Context()); err != nil || s.Ready || s.NetworkReady || s.Reason == "" || s.Message == "" {
		t.Errorf("status %+v, %v", s, err)
	}
	if err := h.UpdatePodCIDR(t.Context(), "10.1.0.0/24"); err != nil {
		t.Error(err)
	}
	calls := h.fake.Calls("UpdateRuntimeConfig")
	if len(calls) != 1 || calls[0].Request.(*runtimeapi.UpdateRuntimeConfigRequest).GetRuntimeConfig().GetNetworkConfig().GetPodCidr() != "10.1.0.0/24" {
		t.Errorf("calls: %v", calls)
	}
}

func TestPullSecretsReachTheRuntime(t *testing.T) {
	h := newHarness(t)
	pod := testPod("web")
	pod.Spec.Containers[0].Image = "registry.test/team/app:1"
	secret := corev1.Secret{Type: corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{
		corev1.DockerConfigJsonKey: []byte(`{"auths":{"registry.test":{"username":"u","password":"p"}}}`),
	}}
	if r := h.SyncPod(t.Context(), pod, nil, []corev1.Secret{secret}); r.Err != nil {
		t.Fatal(r.Err)
	}
	auth := h.fake.Calls("PullImage")[0].Request.(*runtimeapi.PullImageRequest).GetAuth()
	if auth.GetUsername() != "u" || auth.GetPassword() != "p" {
		t.Errorf("auth: %v", auth)
	}
}

func TestHasEnded(t *testing.T) {
	h := newHarness(t)
	pod := testPod("web")
	h.mustSync(t, pod)
	id := h.status(t, pod).Latest("web").ID
	expect := func(want bool, what string) {
		t.Helper()
		if got := h.HasEnded(t.Context(), id); got != want {
			t.Errorf("%s: %t", what, got)
		}
	}
	expect(false, "it runs")
	h.fake.Exit(id, fake.Exit{Code: 137})
	expect(true, "it has exited")
	h.fake.Faults.Add(fault.Rule{Method: "ContainerStatus", Code: codes.Unavailable, Times: 1})
	expect(false, "the runtime does not answer")
	if err := h.RemovePod(t.Context(), pod.UID); err != nil {
		t.Fatal(err)
	}
	expect(true, "it is removed")
}
