// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podsync

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
)

func (n *node) sync(t *testing.T, pod *corev1.Pod, status *podtypes.PodStatus) (podtypes.SyncOutcome, error) {
	t.Helper()
	return n.syncer().SyncPod(t.Context(), podtypes.SyncCreate, pod, nil, status)
}

func TestSyncPodGoesInOrder(t *testing.T) {
	n := &node{phase: corev1.PodPending, syncResult: podtypes.SyncResult{Changed: true}, reading: running()}
	outcome, err := n.sync(t, newPod(), nil)
	if err != nil || outcome.Terminal || outcome.RetryAfter != 0 {
		t.Errorf("%+v %v", outcome, err)
	}
	n.expect(t, "status", "network", "cgroup", "dirs", "mount", "probe", "runtime", "read", "probe", "status")
	if n.mixed || n.held || outcome.ActedAt.IsZero() || outcome.ActedAt != n.readAfter {
		t.Errorf("read while it was worked on: %t; held still: %t; acted at %s, read after %s", n.mixed, n.held, outcome.ActedAt, n.readAfter)
	}
	n.expectEvents(t)
}

func TestSyncPodReadsNothingWhenTheRuntimeDidNothing(t *testing.T) {
	n := &node{phase: corev1.PodRunning}
	outcome, err := n.sync(t, newPod(), running())
	if err != nil || !outcome.ActedAt.IsZero() {
		t.Fatalf("%+v %v", outcome, err)
	}
	n.expect(t, "status", "cgroup", "dirs", "mount", "probe", "runtime", "status")
	if n.reasons == nil {
		t.Error("no reasons from the runtime must say that there are none")
	}
}

func TestSyncPodStopsAtTheStepThatFails(t *testing.T) {
	for _, tc := range []struct {
		fails string
		want  []string
		event string
	}{
		{"network", []string{"status", "network"}, "NetworkNotReady: network is not ready: fake failure"},
		{"cgroup", []string{"status", "network", "cgroup"}, "FailedToCreatePodContainer: unable to ensure the pod's cgroup: fake failure"},
		{"dirs", []string{"status", "network", "cgroup", "dirs"}, "FailedToMakePodDataDirectories: unable to make the pod's directory: fake failure"},
		{"mount", []string{"status", "network", "cgroup", "dirs", "mount", "status"}, "FailedMount: fake failure"},
	} {
		t.Run(tc.fails, func(t *testing.T) {
			n := &node{fails: tc.fails}
			outcome, err := n.sync(t, newPod(), nil)
			if !errors.Is(err, errFake) || outcome.Terminal {
				t.Errorf("%+v %v", outcome, err)
			}
			n.expect(t, tc.want...)
			n.expectEvents(t, tc.event)
		})
	}
}

func TestB071APodThatLacksAVolumeSaysSo(t *testing.T) {
	pod := newPod()
	pod.Spec.InitContainers = []corev1.Container{{Name: "init"}}
	pod.Spec.Containers = []corev1.Container{{Name: "a"}, {Name: "b"}}
	n := &node{fails: "mount"}
	if _, err := n.sync(t, pod, nil); !errors.Is(err, errFake) {
		t.Error(err)
	}
	for _, name := range []string{"init", "a", "b"} {
		if got, want := n.reasons[name], (podtypes.WaitingReason{Reason: "FailedMount", Message: errFake.Error()}); got != want {
			t.Errorf("container %s waits for %+v, want %+v", name, got, want)
		}
	}
}

func TestVolumesThatAreNotUpToDateHoldNothingUp(t *testing.T) {
	n := &node{fails: "mount", mounted: true}
	if _, err := n.sync(t, newPod(), running()); err != nil {
		t.Error(err)
	}
	n.expect(t, "status", "cgroup", "dirs", "mount", "probe", "runtime", "status")
	n.expectEvents(t, "FailedMount: fake failure")
}

func TestNetworkIsAskedForOnlyIfItIsNeeded(t *testing.T) {
	hostNetwork := newPod()
	hostNetwork.Spec.HostNetwork = true
	for name, tc := range map[string]struct {
		pod    *corev1.Pod
		status *podtypes.PodStatus
		starts bool
	}{
		"host network":                {hostNetwork, nil, true},
		"sandbox stands":              {newPod(), ready(), true},
		"sandbox is to be made":       {newPod(), nil, false},
		"sandbox is to be made again": {newPod(), stopped(), false},
	} {
		t.Run(name, func(t *testing.T) {
			n := &node{fails: "network"}
			if _, err := n.sync(t, tc.pod, tc.status); (err == nil) != tc.starts {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestAPodThatEndedIsNotStarted(t *testing.T) {
	for name, n := range map[string]*node{
		"succeeded": {phase: corev1.PodSucceeded},
		"failed":    {phase: corev1.PodFailed},
	} {
		t.Run(name, func(t *testing.T) {
			outcome, err := n.sync(t, newPod(), stopped())
			if err != nil || !outcome.Terminal {
				t.Errorf("%+v %v", outcome, err)
			}
			n.expect(t, "status")
		})
	}
}

func TestADeletedPodIsNeverMountedAgain(t *testing.T) {
	n := &node{phase: corev1.PodRunning}
	if outcome, err := n.sync(t, deletedPod(), running()); err != nil || !outcome.Terminal {
		t.Errorf("%+v %v", outcome, err)
	}
	n.expect(t, "status")
}

func TestARejectedPodRunsNothing(t *testing.T) {
	n := &node{verdict: &podtypes.RejectError{Reason: "OutOfcpu", Message: "too much"}}
	outcome, err := n.sync(t, newPod(), nil)
	if err != nil || !outcome.Terminal {
		t.Errorf("%+v %v", outcome, err)
	}
	n.expect(t, "status", "rejected")
	n.expectEvents(t, "OutOfcpu: too much")
}

func TestAPodThatRanToItsEndAtOnceIsTerminal(t *testing.T) {
	n := &node{phaseAfter: corev1.PodSucceeded, syncResult: podtypes.SyncResult{Changed: true}, reading: stopped()}
	if outcome, err := n.sync(t, newPod(), nil); err != nil || !outcome.Terminal {
		t.Errorf("%+v %v", outcome, err)
	}
}

func TestCrashBackOffIsNoError(t *testing.T) {
	reasons := map[string]podtypes.WaitingReason{"a": {Reason: "CrashLoopBackOff"}}
	n := &node{syncResult: podtypes.SyncResult{Reasons: reasons, RetryAfter: 10 * time.Second}}
	outcome, err := n.sync(t, newPod(), stopped())
	if err != nil || outcome.RetryAfter != 10*time.Second {
		t.Errorf("%+v %v", outcome, err)
	}
	if n.reasons["a"].Reason != "CrashLoopBackOff" {
		t.Errorf("reported %v", n.reasons)
	}
}

func TestWhatTheRuntimeFailedAtIsReportedAndReturned(t *testing.T) {
	reasons := map[string]podtypes.WaitingReason{"a": {Reason: "ErrImagePull"}}
	n := &node{reading: ready(), syncResult: podtypes.SyncResult{Changed: true, Reasons: reasons, Err: errFake}}
	if outcome, err := n.sync(t, newPod(), nil); !errors.Is(err, errFake) || outcome.ActedAt.IsZero() {
		t.Errorf("%+v %v", outcome, err)
	}
	if n.reasons["a"].Reason != "ErrImagePull" {
		t.Errorf("reported %v", n.reasons)
	}
}

func TestAFailedReadingAfterTheSyncIsAnError(t *testing.T) {
	n := &node{fails: "read", syncResult: podtypes.SyncResult{Changed: true}}
	if _, err := n.sync(t, newPod(), nil); !errors.Is(err, errFake) {
		t.Errorf("error %v", err)
	}
	if n.reasons == nil {
		t.Error("nothing reported")
	}
}

func TestB015ASyncThatWasBrokenOffReportsNothing(t *testing.T) {
	n := &node{syncResult: podtypes.SyncResult{Err: context.Canceled, Reasons: map[string]podtypes.WaitingReason{"a": {Reason: "ErrImagePull"}}}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := n.syncer().SyncPod(ctx, podtypes.SyncAgain, newPod(), nil, ready()); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if n.reasons != nil {
		t.Errorf("reported %v", n.reasons)
	}
}

func TestB078AMissingPullSecretDoesNotBlockThePull(t *testing.T) {
	pod := newPod()
	pod.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "nope"}, {Name: "good"}}
	n := &node{secrets: map[string]bool{"good": true}}
	if _, err := n.sync(t, pod, ready()); err != nil {
		t.Fatal(err)
	}
	if n.pullSecrets != 1 {
		t.Errorf("%d pull secrets", n.pullSecrets)
	}
	n.expectEvents(t, "FailedToRetrieveImagePullSecret: Unable to retrieve some image pull secrets (nope); attempting to pull the image may not succeed.")
}
