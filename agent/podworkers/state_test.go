// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podworkers

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
)

func TestNext(t *testing.T) {
	now := time.Now()
	after := func(d time.Duration) time.Time { return now.Add(d) }
	const grace = 30 * time.Second
	ending := state{phase: Terminating, deletedAt: now, end: after(grace)}
	evicted := state{phase: Terminating, evicted: true, end: after(grace)}

	tests := map[string]struct {
		from state
		r    request
		want state
		does effect
	}{
		"an update is work": {
			state{}, request{kind: podtypes.SyncUpdate}, state{}, effect{wake: true},
		},
		"a delete interrupts": {
			state{}, request{deleted: true, grace: grace}, ending, effect{wake: true, interrupt: true},
		},
		"an eviction interrupts": {
			state{}, request{evicted: true, grace: grace}, evicted, effect{wake: true, interrupt: true},
		},
		"so does a deadline": {
			state{}, request{overdue: true, grace: grace}, evicted, effect{wake: true, interrupt: true},
		},
		"a terminal phase ends": {
			state{}, request{terminal: true, grace: grace}, state{phase: Terminating, end: after(grace)},
			effect{wake: true, interrupt: true},
		},
		"an orphan ends": {
			state{}, request{orphan: true}, state{phase: Terminating, orphan: true, end: now},
			effect{wake: true, interrupt: true},
		},
		"an ending pod is not synced": {
			ending, request{kind: podtypes.SyncUpdate}, ending, effect{wake: true},
		},
		"a longer grace is ignored": {
			ending, request{deleted: true, grace: time.Hour}, ending, effect{wake: true},
		},
		"a shorter grace counts from the first delete": {
			ending, request{deleted: true, grace: 20 * time.Second, now: after(10 * time.Second)},
			state{phase: Terminating, deletedAt: now, end: after(20 * time.Second)}, effect{wake: true, interrupt: true},
		},
		"the grace of a delete after an eviction counts from the delete": {
			evicted, request{deleted: true, grace: 10 * time.Second, now: after(10 * time.Second)},
			state{phase: Terminating, evicted: true, deletedAt: after(10 * time.Second), end: after(20 * time.Second)},
			effect{wake: true, interrupt: true},
		},
		"a create is noted while the pod ends": {
			ending, request{kind: podtypes.SyncCreate},
			state{phase: Terminating, deletedAt: now, end: after(grace), restart: true}, effect{wake: true},
		},
		"a create is noted when the pod has ended": {
			state{phase: Finished}, request{kind: podtypes.SyncCreate}, state{phase: Finished, restart: true}, effect{},
		},
		"a finished pod has no work": {
			state{phase: Finished}, request{evicted: true}, state{phase: Finished}, effect{},
		},
		"a finished pod that is deleted is released again": {
			state{phase: Finished}, request{deleted: true}, state{phase: Terminated, deletedAt: now},
			effect{wake: true, interrupt: true},
		},
		"but only once": {
			state{phase: Finished, deletedAt: now}, request{deleted: true}, state{phase: Finished, deletedAt: now}, effect{},
		},
		"and no orphan": {
			state{phase: Finished, orphan: true}, request{deleted: true}, state{phase: Finished, orphan: true}, effect{},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.r.now.IsZero() {
				test.r.now = now
			}
			got, does := test.from.next(test.r)
			if got != test.want || does != test.does {
				t.Errorf("got  %+v %+v\nwant %+v %+v", got, does, test.want, test.does)
			}
		})
	}
}

func TestCompleted(t *testing.T) {
	tests := map[string]struct {
		from state
		want Phase
	}{
		"synced":         {state{phase: Syncing}, Syncing},
		"stopped":        {state{phase: Terminating}, Terminated},
		"orphan removed": {state{phase: Terminating, orphan: true}, Finished},
		"released":       {state{phase: Terminated}, Finished},
	}
	for name, test := range tests {
		if got := test.from.completed().phase; got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestGraceSecondsAreRoundedUp(t *testing.T) {
	now := time.Now()
	for left, want := range map[time.Duration]int64{
		-time.Second: 0, 0: 0, 1: 1, time.Second: 1, time.Second + 1: 2,
	} {
		if got := (state{end: now.Add(left)}).graceSeconds(now); got != want {
			t.Errorf("%v left: %d, want %d", left, got, want)
		}
	}
}

// What has ended by itself before its deadline has not failed by it, even if nobody
// was there to see it in time.
func TestB022TheDeadlineFailsOnlyWhatIsActive(t *testing.T) {
	for phase, want := range map[corev1.PodPhase]corev1.PodPhase{
		corev1.PodPending: corev1.PodFailed, corev1.PodRunning: corev1.PodFailed, corev1.PodSucceeded: corev1.PodSucceeded,
	} {
		s := corev1.PodStatus{Phase: phase}
		deadlineExceeded(&s)
		if s.Phase != want || (s.Reason == deadlineReason) != (phase != corev1.PodSucceeded) {
			t.Errorf("%s became %s, reason %q", phase, s.Phase, s.Reason)
		}
	}
}
