// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
)

// show puts a state into a few words.
func show(s corev1.ContainerState) string {
	switch {
	case s.Running != nil:
		return "running"
	case s.Waiting != nil:
		return "waiting " + s.Waiting.Reason
	case s.Terminated != nil:
		return fmt.Sprintf("terminated %s %d", s.Terminated.Reason, s.Terminated.ExitCode)
	}
	return ""
}

// reported is a status with one container a in that state.
func reported(id string, restarts int32, state, last corev1.ContainerState) corev1.PodStatus {
	return corev1.PodStatus{Phase: isRunning, ContainerStatuses: []corev1.ContainerStatus{{
		Name: "a", ContainerID: id, RestartCount: restarts, State: state, LastTerminationState: last,
	}}}
}

func runs() corev1.ContainerState {
	return corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: stamp(t0)}}
}

func waits(reason string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: "m"}}
}

func ended(id, reason string, code int32) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ContainerID: id, Reason: reason, ExitCode: code, StartedAt: stamp(t0), FinishedAt: stamp(t1)}}
}

func TestContainerStatus(t *testing.T) {
	type reasons = map[string]podtypes.WaitingReason
	type containers = []podtypes.ContainerStatus
	crashLoop := reasons{"a": {Reason: "CrashLoopBackOff", Message: "back-off 10s"}}
	nothing := corev1.ContainerState{}
	none := corev1.PodStatus{}
	oomKilled := exited("a", 0, 137)
	oomKilled.Reason = "OOMKilled"

	for _, tc := range []struct {
		name        string
		policy      corev1.RestartPolicy
		previous    corev1.PodStatus
		have        containers
		reasons     reasons
		ended       bool
		state, last string
		restarts    int32
		ready       bool
	}{
		{"not made yet", always, none, nil, nil, false, "waiting ContainerCreating", "", 0, false},
		{"created", always, none, containers{created("a", 0)}, nil, false, "waiting ContainerCreating", "", 0, false},
		{"runs", always, none, containers{running("a", 0)}, nil, false, "running", "", 0, true},
		{"exited well", never, none, containers{exited("a", 0, 0)}, nil, false, "terminated Completed 0", "", 0, false},
		{"exited badly", never, none, containers{exited("a", 0, 2)}, nil, false, "terminated Error 2", "", 0, false},
		{"the runtime's reason", never, none, containers{oomKilled}, nil, false, "terminated OOMKilled 137", "", 0, false},
		{"unknown to the runtime", never, none, containers{unknown("a", 0)}, nil, false, "terminated ContainerStatusUnknown 137", "", 0, false},
		{"restarted", always, none, containers{running("a", 1), exited("a", 0, 2)}, nil, false, "running", "terminated Error 2", 1, true},
		{"created again", always, none, containers{created("a", 1), exited("a", 0, 2)}, nil, false, "waiting ContainerCreating", "terminated Error 2", 1, false},
		{"exited again", never, none, containers{exited("a", 1, 3), exited("a", 0, 2)}, nil, false, "terminated Error 3", "terminated Error 2", 1, false},

		{"image pull fails", always, none, nil, reasons{"a": {Reason: "ErrImagePull"}}, false, "waiting ErrImagePull", "", 0, false},
		{"cannot be started", always, none, containers{created("a", 0)}, reasons{"a": {Reason: "RunContainerError"}}, false, "waiting RunContainerError", "", 0, false},
		{"crash loop", always, none, containers{exited("a", 3, 1)}, crashLoop, false, "waiting CrashLoopBackOff", "terminated Error 1", 3, false},
		{"a reason for what runs", always, none, containers{running("a", 0)}, crashLoop, false, "running", "", 0, true},
		{"a reason for what is done", onFailure, none, containers{exited("a", 0, 0)}, crashLoop, false, "terminated Completed 0", "", 0, false},
		{"a reason after the end", always, none, containers{exited("a", 0, 1)}, crashLoop, true, "terminated Error 1", "", 0, false},

		{"reason kept between syncs", always, reported("containerd://a.3", 3, waits("CrashLoopBackOff"), ended("containerd://a.3", "Error", 1)),
			containers{exited("a", 3, 1)}, nil, false, "waiting CrashLoopBackOff", "terminated Error 1", 3, false},
		{"reason gone with the next sync", always, reported("containerd://a.3", 3, waits("CrashLoopBackOff"), ended("containerd://a.3", "Error", 1)),
			containers{exited("a", 3, 1)}, reasons{}, false, "terminated Error 1", "", 3, false},
		{"reason of an instance before", always, reported("containerd://a.2", 2, waits("CrashLoopBackOff"), ended("containerd://a.2", "Error", 1)),
			containers{exited("a", 3, 4)}, nil, false, "terminated Error 4", "terminated Error 1", 3, false},
		{"pull reason kept", always, reported("", 0, waits("ImagePullBackOff"), nothing), nil, nil, false, "waiting ImagePullBackOff", "", 0, false},

		{"instance before was removed", always, reported("containerd://a.0", 0, ended("containerd://a.0", "Error", 7), nothing),
			containers{running("a", 1)}, nil, false, "running", "terminated Error 7", 1, true},
		{"last state kept", always, reported("containerd://a.1", 1, runs(), ended("containerd://a.0", "Error", 7)),
			containers{running("a", 1)}, nil, false, "running", "terminated Error 7", 1, true},
		{"count was higher", always, reported("containerd://x", 5, runs(), nothing),
			containers{running("a", 0)}, nil, false, "running", "terminated ContainerStatusUnknown 137", 5, true},

		{"vanished, to be restarted", always, reported("containerd://a.0", 2, runs(), nothing), nil, nil, false,
			"waiting ContainerCreating", "terminated ContainerStatusUnknown 137", 3, false},
		{"vanished, counted once", always, reported("", 3, waits("ContainerCreating"), ended("containerd://a.0", "ContainerStatusUnknown", 137)), nil, nil, false,
			"waiting ContainerCreating", "terminated ContainerStatusUnknown 137", 3, false},
		{"vanished, Never", never, reported("containerd://a.0", 0, runs(), nothing), nil, nil, false,
			"terminated ContainerStatusUnknown 137", "", 0, false},
		{"vanished after its end, Never", never, reported("containerd://a.0", 0, ended("containerd://a.0", "Completed", 0), nothing), nil, nil, false,
			"terminated Completed 0", "", 0, false},
		{"vanished after its end, Always", always, reported("containerd://a.0", 1, ended("containerd://a.0", "Error", 9), nothing), nil, nil, false,
			"waiting ContainerCreating", "terminated Error 9", 2, false},
		{"vanished as the pod ended", always, reported("containerd://a.0", 1, runs(), nothing), nil, nil, true,
			"terminated ContainerStatusUnknown 137", "", 1, false},
		{"never started as the pod ended", always, none, nil, nil, true, "terminated ContainerStatusUnknown 137", "", 0, false},
		{"created as the pod ended", always, none, containers{created("a", 0)}, nil, true, "terminated ContainerStatusUnknown 137", "", 0, false},
		{"waited as the pod ended", always, reported("", 4, waits("ImagePullBackOff"), ended("containerd://a.0", "Error", 9)), nil, nil, true,
			"terminated ContainerStatusUnknown 137", "terminated Error 9", 4, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in := input(newPod(tc.policy, "a"), runtimeStatus(tc.have...))
			in.Previous, in.Reasons, in.Ended = &tc.previous, tc.reasons, tc.ended
			got := Generate(in).ContainerStatuses[0]
			if show(got.State) != tc.state || show(got.LastTerminationState) != tc.last {
				t.Errorf("state %q, last %q; want %q, %q", show(got.State), show(got.LastTerminationState), tc.state, tc.last)
			}
			if got.RestartCount != tc.restarts || got.Ready != tc.ready || *got.Started != tc.ready {
				t.Errorf("restarts %d, ready %t, started %t; want %d, %t", got.RestartCount, got.Ready, *got.Started, tc.restarts, tc.ready)
			}
			if got.Image != "a:1" {
				t.Errorf("image %q", got.Image)
			}
		})
	}
}

func TestContainerStatusDetails(t *testing.T) {
	s := exited("a", 1, 3)
	s.Message = "bad \xff byte"
	got := generate(newPod(never, "a"), runtimeStatus(s)).ContainerStatuses[0]
	end := got.State.Terminated
	if got.ContainerID != "containerd://a.1" || end.ContainerID != "containerd://a.1" || got.ImageID != "sha256:a" {
		t.Errorf("ids %q %q %q", got.ContainerID, end.ContainerID, got.ImageID)
	}
	if !end.StartedAt.Time.Equal(t0) || !end.FinishedAt.Time.Equal(t1) {
		t.Errorf("times %v %v", end.StartedAt, end.FinishedAt)
	}
	if end.Message != "bad \uFFFD byte" {
		t.Errorf("message %q", end.Message)
	}
}

func TestInitContainersWaitAsInitializing(t *testing.T) {
	got := generate(newPod(always, "init-a", "a"), runtimeStatus())
	if r := show(got.InitContainerStatuses[0].State); r != "waiting PodInitializing" {
		t.Errorf("init container: %s", r)
	}
	if r := show(got.ContainerStatuses[0].State); r != "waiting PodInitializing" {
		t.Errorf("container: %s", r)
	}
}

func TestB012VanishedContainerOfAnEndedPodIsShownUnknown(t *testing.T) {
	pod := newPod(always, "a")
	was := generate(pod, runtimeStatus(running("a", 0)))
	in := input(pod, &podtypes.PodStatus{UID: "uid-1"})
	in.Previous, in.Ended = &was, true
	got := Generate(in)
	end := got.ContainerStatuses[0].State.Terminated
	if end == nil || end.ExitCode != 137 || end.Reason != ContainerStatusUnknown {
		t.Fatalf("state %+v", got.ContainerStatuses[0].State)
	}
	if end.ContainerID != "containerd://a.0" || !end.StartedAt.Time.Equal(t0) {
		t.Errorf("what was known of it is lost: %+v", end)
	}
	if got.Phase != failed {
		t.Errorf("phase %s", got.Phase)
	}
}

func TestB026PrunedInitContainerStaysCompleted(t *testing.T) {
	pod := newPod(always, "init-a", "a")
	was := generate(pod, runtimeStatus(running("a", 0), exited("init-a", 0, 0)))
	got := after(was, pod, runtimeStatus(running("a", 0)))
	if s := show(got.InitContainerStatuses[0].State); s != "terminated Completed 0" || got.Phase != isRunning {
		t.Errorf("init container %s, phase %s", s, got.Phase)
	}
}

func TestB085RestartCountNeverFalls(t *testing.T) {
	pod := newPod(always, "a")
	status := corev1.PodStatus{}
	last := int32(0)
	for _, runtime := range []*podtypes.PodStatus{
		runtimeStatus(running("a", 5), exited("a", 4, 1)),
		runtimeStatus(), // collected
		runtimeStatus(), // still
		{},              // the runtime's state is wiped
		runtimeStatus(created("a", 0)),
		runtimeStatus(running("a", 0)),
		runtimeStatus(running("a", 1), exited("a", 0, 1)),
	} {
		status = after(status, pod, runtime)
		got := status.ContainerStatuses[0].RestartCount
		if got < last {
			t.Fatalf("restart count fell from %d to %d", last, got)
		}
		last = got
	}
	if last != 6 {
		t.Errorf("restart count %d, want 6", last)
	}
}

func TestEphemeralContainerStatus(t *testing.T) {
	pod := newPod(always, "a", "debug-d")
	for name, tc := range map[string]struct {
		have []podtypes.ContainerStatus
		want string
	}{
		"not made yet": {nil, "waiting ContainerCreating"},
		"runs":         {[]podtypes.ContainerStatus{running("debug-d", 0)}, "running"},
		"ended":        {[]podtypes.ContainerStatus{exited("debug-d", 0, 1)}, "terminated Error 1"},
	} {
		status := generate(pod, runtimeStatus(tc.have...))
		got := status.EphemeralContainerStatuses
		if len(got) != 1 || show(got[0].State) != tc.want || got[0].Started != nil || got[0].Ready {
			t.Errorf("%s: %+v, want %s", name, got, tc.want)
		}
		status = after(status, pod, runtimeStatus())
		if lost := status.EphemeralContainerStatuses[0].State; tc.want[0] == 't' && show(lost) != tc.want {
			t.Errorf("%s, and its record is gone: %s", name, show(lost))
		}
	}
}

// B026: what was pruned from the runtime is shown as it was last reported.
func TestPrunedInitContainerStaysCompleted(t *testing.T) {
	pod := newPod(always, "init-a", "a")
	before := generate(pod, runtimeStatus(exited("init-a", 0, 0), running("a", 0)))
	got := after(before, pod, runtimeStatus(running("a", 0)))
	if s := got.InitContainerStatuses[0]; show(s.State) != "terminated Completed 0" || !s.Ready || s.RestartCount != 0 {
		t.Errorf("got %+v", s)
	}
}
