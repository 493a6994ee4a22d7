// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
)

const (
	always    = corev1.RestartPolicyAlways
	onFailure = corev1.RestartPolicyOnFailure
	never     = corev1.RestartPolicyNever

	pending   = corev1.PodPending
	isRunning = corev1.PodRunning
	succeeded = corev1.PodSucceeded
	failed    = corev1.PodFailed
)

func TestPhase(t *testing.T) {
	type containers = []podtypes.ContainerStatus
	two := []string{"a", "b"}
	inits := []string{"init-a", "init-b", "a"}
	sidecar := []string{"side-s", "a"}
	for _, tc := range []struct {
		name   string
		policy corev1.RestartPolicy
		spec   []string
		have   containers
		ended  bool
		want   corev1.PodPhase
	}{
		{"nothing there", always, two, nil, false, pending},
		{"created only", always, []string{"a"}, containers{created("a", 0)}, false, pending},
		{"one of two started", always, two, containers{running("a", 0)}, false, pending},
		{"both run", always, two, containers{running("a", 0), running("b", 0)}, false, isRunning},
		{"one waits after a crash", always, two, containers{running("a", 0), exited("b", 0, 1)}, false, isRunning},

		{"Always, all exited 0", always, two, containers{exited("a", 0, 0), exited("b", 0, 0)}, false, isRunning},
		{"Always, all exited 1", always, two, containers{exited("a", 0, 1), exited("b", 0, 1)}, false, isRunning},
		{"OnFailure, all exited 0", onFailure, two, containers{exited("a", 0, 0), exited("b", 0, 0)}, false, succeeded},
		{"OnFailure, one exited 1", onFailure, two, containers{exited("a", 0, 0), exited("b", 0, 1)}, false, isRunning},
		{"OnFailure, one runs", onFailure, two, containers{exited("a", 0, 0), running("b", 0)}, false, isRunning},
		{"Never, all exited 0", never, two, containers{exited("a", 0, 0), exited("b", 0, 0)}, false, succeeded},
		{"Never, one exited 1", never, two, containers{exited("a", 0, 0), exited("b", 0, 1)}, false, failed},
		{"Never, one exited 1 and one runs", never, two, containers{exited("a", 0, 1), running("b", 0)}, false, isRunning},
		{"Never, one exited and one never started", never, two, containers{exited("a", 0, 0)}, false, pending},
		{"Never, unknown to the runtime", never, []string{"a"}, containers{unknown("a", 0)}, false, failed},

		{"init runs", always, inits, containers{running("init-a", 0)}, false, pending},
		{"first init done", always, inits, containers{exited("init-a", 0, 0)}, false, pending},
		{"init created", always, inits, containers{created("init-a", 0)}, false, pending},
		{"init failed, Always", always, inits, containers{exited("init-a", 0, 1)}, false, pending},
		{"init failed, OnFailure", onFailure, inits, containers{exited("init-a", 0, 1)}, false, pending},
		{"init failed, Never", never, inits, containers{exited("init-a", 0, 1)}, false, failed},
		{"inits done", always, inits, containers{exited("init-a", 0, 0), exited("init-b", 0, 0)}, false, pending},
		{"inits done and app runs", always, inits,
			containers{exited("init-a", 0, 0), exited("init-b", 0, 0), running("a", 0)}, false, isRunning},
		{"inits run again in a new sandbox", always, inits,
			containers{running("init-a", 1), exited("init-b", 0, 0), exited("a", 0, 137)}, false, pending},

		{"sidecar only", always, sidecar, containers{running("side-s", 0)}, false, pending},
		{"sidecar and app", always, sidecar, containers{running("side-s", 0), running("a", 0)}, false, isRunning},
		{"sidecar stopped", always, sidecar, containers{exited("side-s", 0, 1), running("a", 0)}, false, isRunning},
		{"sidecar outlives the app", never, sidecar, containers{running("side-s", 0), exited("a", 0, 0)}, false, isRunning},
		{"sidecar stopped after the app", never, sidecar, containers{exited("side-s", 0, 143), exited("a", 0, 0)}, false, succeeded},

		{"ended, exited 0", always, two, containers{exited("a", 0, 0), exited("b", 0, 0)}, true, succeeded},
		{"ended, exited 143", always, two, containers{exited("a", 0, 143), exited("b", 0, 0)}, true, failed},
		{"ended, never started", always, two, nil, true, failed},
		{"ended, init failed, Always", always, inits, containers{exited("init-a", 0, 1)}, true, failed},
		{"ended, inits done and app never started", always, inits,
			containers{exited("init-a", 0, 0), exited("init-b", 0, 0)}, true, failed},
		{"ended, but one runs", always, two, containers{exited("a", 0, 0), running("b", 0)}, true, isRunning},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in := input(newPod(tc.policy, tc.spec...), runtimeStatus(tc.have...))
			in.Ended = tc.ended
			if got := Generate(in).Phase; got != tc.want {
				t.Errorf("phase %s, want %s", got, tc.want)
			}
		})
	}
}

func TestPhaseNeverLeavesATerminalOne(t *testing.T) {
	pod := newPod(always, "a")
	for _, phase := range []corev1.PodPhase{succeeded, failed} {
		previous := corev1.PodStatus{Phase: phase, Reason: "Evicted", Message: "why"}
		got := after(previous, pod, runtimeStatus(running("a", 0)))
		if got.Phase != phase || got.Reason != "Evicted" || got.Message != "why" {
			t.Errorf("after %s: %s %q %q", phase, got.Phase, got.Reason, got.Message)
		}
	}
}

func TestB022PhaseIsNotTerminalWhileAContainerRuns(t *testing.T) {
	pod := newPod(never, "a")
	deadline := func(s *corev1.PodStatus) { s.Phase, s.Reason = failed, "DeadlineExceeded" }

	in := input(pod, runtimeStatus(running("a", 0)))
	in.Previous = &corev1.PodStatus{Phase: isRunning}
	in.Mutate = deadline
	held := Generate(in)
	if held.Phase != isRunning || held.Reason != "DeadlineExceeded" {
		t.Fatalf("while it runs: phase %s, reason %q", held.Phase, held.Reason)
	}

	in = input(pod, runtimeStatus(exited("a", 0, 0)))
	in.Previous, in.Ended, in.Mutate = &held, true, deadline
	final := Generate(in)
	if final.Phase != failed || final.Reason != "DeadlineExceeded" {
		t.Errorf("when it has stopped: phase %s, reason %q", final.Phase, final.Reason)
	}

	// A restart of the agent between the two forgets the mutation.
	in.Mutate = nil
	if final := Generate(in); final.Phase != failed || final.Reason != "DeadlineExceeded" {
		t.Errorf("without the mutation: phase %s, reason %q", final.Phase, final.Reason)
	}

	// Nor does it know yet, at its first look, that none is to run again.
	in.Ended = false
	if final := Generate(in); final.Phase != failed || final.Reason != "DeadlineExceeded" {
		t.Errorf("at the first look of a new agent: phase %s, reason %q", final.Phase, final.Reason)
	}

	sidecar := newPod(never, "init-a", "side-s", "a")
	got := generate(sidecar, runtimeStatus(running("side-s", 0), exited("init-a", 0, 1)))
	if got.Phase != pending {
		t.Errorf("init failed while a sidecar runs: phase %s", got.Phase)
	}
}

// Every way to the end passes through phases in one direction.
func TestPhaseOverALife(t *testing.T) {
	pod := newPod(never, "init-a", "a")
	status := corev1.PodStatus{}
	for _, step := range []struct {
		runtime *podtypes.PodStatus
		want    corev1.PodPhase
	}{
		{&podtypes.PodStatus{}, pending},
		{runtimeStatus(), pending},
		{runtimeStatus(running("init-a", 0)), pending},
		{runtimeStatus(exited("init-a", 0, 0)), pending},
		{runtimeStatus(created("a", 0), exited("init-a", 0, 0)), pending},
		{runtimeStatus(running("a", 0), exited("init-a", 0, 0)), isRunning},
		{runtimeStatus(exited("a", 0, 0), exited("init-a", 0, 0)), succeeded},
		{&podtypes.PodStatus{}, succeeded},
	} {
		status = after(status, pod, step.runtime)
		if status.Phase != step.want {
			t.Fatalf("phase %s, want %s, with %+v", status.Phase, step.want, step.runtime.Containers)
		}
	}
}

func TestPhaseFollowsThePoliciesOfContainers(t *testing.T) {
	own := func(c *corev1.Container, policy corev1.ContainerRestartPolicy, codes ...int32) {
		c.RestartPolicy = &policy
		if len(codes) > 0 {
			c.RestartPolicyRules = []corev1.ContainerRestartRule{{
				Action:    corev1.ContainerRestartRuleActionRestart,
				ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: corev1.ContainerRestartRuleOnExitCodesOpIn, Values: codes},
			}}
		}
	}
	for name, tc := range map[string]struct {
		policy corev1.RestartPolicy
		change func(*corev1.PodSpec)
		have   []podtypes.ContainerStatus
		want   corev1.PodPhase
	}{
		"none is started again": {always, func(s *corev1.PodSpec) { own(&s.Containers[0], "Never"); own(&s.Containers[1], "Never") },
			[]podtypes.ContainerStatus{exited("a", 0, 0), exited("b", 0, 1)}, failed},
		"one is started again": {never, func(s *corev1.PodSpec) { own(&s.Containers[0], "Always") },
			[]podtypes.ContainerStatus{exited("a", 0, 0), exited("b", 0, 1)}, isRunning},
		"a rule starts it again": {never, func(s *corev1.PodSpec) { own(&s.Containers[0], "Never", 42) },
			[]podtypes.ContainerStatus{exited("a", 0, 42), exited("b", 0, 0)}, isRunning},
		"no rule fits": {never, func(s *corev1.PodSpec) { own(&s.Containers[0], "Never", 42) },
			[]podtypes.ContainerStatus{exited("a", 0, 1), exited("b", 0, 0)}, failed},
		"an init container is not tried again": {always, func(s *corev1.PodSpec) { own(&s.InitContainers[0], "Never") },
			[]podtypes.ContainerStatus{exited("init-i", 0, 1)}, failed},
		"an init container is tried again": {never, func(s *corev1.PodSpec) { own(&s.InitContainers[0], "OnFailure") },
			[]podtypes.ContainerStatus{exited("init-i", 0, 1)}, pending},
	} {
		pod := newPod(tc.policy, "a", "b")
		if tc.have[0].Name == "init-i" {
			pod = newPod(tc.policy, "init-i", "a", "b")
		}
		tc.change(&pod.Spec)
		if got := generate(pod, runtimeStatus(tc.have...)).Phase; got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}
