// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/agent/podtypes"
)

func TestStartedAfter(t *testing.T) {
	now := time.Unix(1000, 0)
	taken := metav1.NewTime(now.Add(-3 * time.Second))
	status := func(phase corev1.PodPhase, start *metav1.Time) *corev1.PodStatus {
		return &corev1.PodStatus{Phase: phase, StartTime: start}
	}
	ahead := metav1.NewTime(now.Add(time.Second))
	for name, test := range map[string]struct {
		before, now *corev1.PodStatus
		after       time.Duration
		begins      bool
	}{
		"begins to run":      {status(corev1.PodPending, nil), status(corev1.PodRunning, &taken), 3 * time.Second, true},
		"runs on":            {status(corev1.PodRunning, &taken), status(corev1.PodRunning, &taken), 0, false},
		"does not run yet":   {status(corev1.PodPending, nil), status(corev1.PodPending, &taken), 0, false},
		"ended":              {status(corev1.PodRunning, &taken), status(corev1.PodSucceeded, &taken), 0, false},
		"when, nobody knows": {status(corev1.PodPending, nil), status(corev1.PodRunning, nil), 0, false},
		"by a clock ahead":   {status(corev1.PodPending, nil), status(corev1.PodRunning, &ahead), 0, true},
	} {
		if after, begins := startedAfter(test.before, test.now, now); after != test.after || begins != test.begins {
			t.Errorf("%s: %v, %v", name, after, begins)
		}
	}
}

// A record that finalizers hold outlives what the runtime knows of the pod, also
// for an agent that comes back to it.
func TestPodThatHasEndedIsToldAsItEnded(t *testing.T) {
	pod := newPod(always, "a")
	pod.DeletionTimestamp = &metav1.Time{Time: t1}
	pod.Status = reported("containerd://a.1", 1, ended("containerd://a.1", "Completed", 0), ended("containerd://a.0", "Error", 9))
	pod.Status.Phase = corev1.PodSucceeded
	r := &Reporter{Manager: NewManager(slog.New(slog.DiscardHandler)), HostIPs: func() []string { return nil }, RuntimeName: "containerd"}
	nothing := &podtypes.PodStatus{UID: pod.UID}
	for _, step := range []struct {
		name   string
		report func()
	}{
		{"terminating", func() { r.Terminating(pod, nothing, nil) }},
		{"stopped", func() { r.Stopped(pod, nothing, nil) }},
		{"terminated", func() { r.TerminatePod(pod) }},
	} {
		step.report()
		got, _ := r.PodStatus(pod.UID)
		want, now := pod.Status.ContainerStatuses[0], got.ContainerStatuses[0]
		if diff := cmp.Diff(want.State, now.State) + cmp.Diff(want.LastTerminationState, now.LastTerminationState); diff != "" {
			t.Errorf("%s: (-before +after)\n%s", step.name, diff)
		}
		if got.Phase != corev1.PodSucceeded || now.RestartCount != 1 || now.ContainerID != want.ContainerID {
			t.Errorf("%s: %s, %+v", step.name, got.Phase, now)
		}
	}
}
