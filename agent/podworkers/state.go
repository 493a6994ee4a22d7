// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podworkers

import (
	"time"

	"github.com/berth-run/berth/agent/podtypes"
)

// Phase is how far a pod's worker has come. It only rises, but for a pod that has
// ended by itself: it is Terminated once more when its source deletes it.
type Phase int

// The phases of a worker.
const (
	// Syncing: SyncPod makes the pod true.
	Syncing Phase = iota
	// Terminating: the containers are being stopped.
	Terminating
	// Terminated: nothing runs; what the pod held is being released.
	Terminated
	// Finished: nothing is left to do.
	Finished
)

func (p Phase) String() string {
	return [...]string{"syncing", "terminating", "terminated", "finished"}[p]
}

// state is what decides a worker's next step. It is a value: the functions below
// return the state that follows and change nothing.
type state struct {
	phase Phase
	// orphan: known from the runtime alone, so there is no spec.
	orphan bool
	// deletedAt is when the source's wish to end the pod was first seen here.
	// Shorter graces of later wishes count from then.
	deletedAt time.Time
	// evicted: the node ended the pod for a reason of its own.
	evicted bool
	// end is when the grace is over, from Terminating on. It only comes nearer.
	end time.Time
	// restart: the UID came again while its first run was ending.
	restart bool
}

// request is an update of a pod, reduced to what the state depends on.
type request struct {
	kind podtypes.SyncType
	// orphan: the runtime's word alone.
	orphan bool
	// deleted: the source wants the pod ended. evicted: the node does. terminal:
	// the pod has ended by itself. overdue: its deadline has passed, and none of
	// the others holds.
	deleted, evicted, terminal, overdue bool
	// grace is what the pod gets from this request, if it ends the pod.
	grace time.Duration
	now   time.Time
	// deadline is when an active pod has to be looked at again; zero if never.
	deadline time.Time
}

func (r request) ends() bool {
	return r.orphan || r.deleted || r.evicted || r.terminal || r.overdue
}

// effect is what has to happen at once because of a request.
type effect struct {
	// wake: there is work for the worker.
	wake bool
	// interrupt: the step that is under way is out of date and is to end now.
	interrupt bool
}

// next returns the state after a request.
func (s state) next(r request) (state, effect) {
	if s.phase != Syncing && r.kind == podtypes.SyncCreate {
		s.restart = true
	}
	switch {
	case s.phase >= Terminated:
		return s.forsake(r)
	case !r.ends():
		return s, effect{wake: true}
	case s.phase == Syncing:
		return s.terminate(r), effect{wake: true, interrupt: true}
	}
	shorter := s.terminate(r)
	return shorter, effect{wake: true, interrupt: shorter.end.Before(s.end)}
}

// forsake is for a pod of which nothing runs. What it keeps for users to read,
// such as its logs, is released by another SyncTerminatedPod once its source does
// not want it any more.
func (s state) forsake(r request) (state, effect) {
	if !r.deleted || !s.deletedAt.IsZero() || s.orphan {
		return s, effect{wake: s.phase == Terminated}
	}
	s.deletedAt = r.now
	s.phase = Terminated
	return s, effect{wake: true, interrupt: true}
}

// terminate notes why and until when the pod is ended. The end of a pod that is
// terminating already comes no later for it.
func (s state) terminate(r request) state {
	from := r.now
	if r.deleted {
		if s.deletedAt.IsZero() {
			s.deletedAt = r.now
		}
		from = s.deletedAt
	}
	end := from.Add(r.grace)
	if s.phase == Syncing || end.Before(s.end) {
		s.end = end
	}
	s.phase = Terminating
	s.orphan = s.orphan || r.orphan
	s.evicted = s.evicted || r.evicted || r.overdue
	return s
}

// completed returns the state after the step of its phase succeeded. A SyncPod
// that succeeded leaves the pod where it is.
func (s state) completed() state {
	switch {
	case s.phase == Terminating && s.orphan, s.phase == Terminated:
		s.phase = Finished
	case s.phase == Terminating:
		s.phase = Terminated
	}
	return s
}

// graceSeconds returns what is left of the grace, rounded up.
func (s state) graceSeconds(now time.Time) int64 {
	left := s.end.Sub(now)
	if left <= 0 {
		return 0
	}
	return int64((left + time.Second - 1) / time.Second)
}
