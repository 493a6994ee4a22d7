// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podworkers

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
)

// podWorkerLoop takes one pod through its phases, step by step.
func (p *PodWorkers) podWorkerLoop(ctx context.Context, w *worker) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
		}
		stepCtx, s, ok := p.begin(ctx, w)
		if !ok {
			continue
		}
		outcome, err := p.sync(stepCtx, w, s)
		if p.complete(stepCtx, w, s, outcome, err) == Finished {
			return
		}
	}
}

// step is one call of the Syncer and what it is called with.
type step struct {
	phase       Phase
	kind        podtypes.SyncType
	pod, mirror *corev1.Pod
	runtimePod  *podtypes.RuntimePod
	mutate      func(*corev1.PodStatus)
	// newerThan is how fresh the pod's status has to be.
	newerThan time.Time
}

// begin takes the pending update, if the pod may go on, with a context that the
// worker can interrupt.
func (p *PodWorkers) begin(ctx context.Context, w *worker) (context.Context, step, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.pending == 0 || w.state.phase == Syncing && !w.started && !p.names.first(w) {
		return nil, step{}, false
	}
	s := step{
		phase: w.state.phase, kind: w.pending, pod: w.pod, mirror: w.mirror,
		mutate: w.mutate, newerThan: w.actedAt,
	}
	switch {
	case w.state.orphan:
		s.runtimePod = w.runtimePod
	case s.phase == Terminated: // nothing runs: what is known is enough
		s.newerThan = time.Time{}
	}
	w.pending = 0
	w.started = w.started || s.phase == Syncing
	ctx, w.interrupt = context.WithCancel(ctx)
	return ctx, s, true
}

// sync does one step.
func (p *PodWorkers) sync(ctx context.Context, w *worker, s step) (podtypes.SyncOutcome, error) {
	if s.runtimePod != nil {
		return podtypes.SyncOutcome{}, p.syncer.SyncTerminatingRuntimePod(ctx, s.runtimePod)
	}
	status, err := p.cache.GetNewerThan(ctx, w.uid, s.newerThan)
	if err != nil {
		return podtypes.SyncOutcome{}, fmt.Errorf("status of the pod in the runtime: %w", err)
	}
	switch s.phase {
	case Syncing:
		return p.syncer.SyncPod(ctx, s.kind, s.pod, s.mirror, status)
	case Terminating:
		grace := p.graceSeconds(w)
		return podtypes.SyncOutcome{}, p.syncer.SyncTerminatingPod(ctx, s.pod, status, &grace, s.mutate)
	default:
		return podtypes.SyncOutcome{}, p.syncer.SyncTerminatedPod(ctx, s.pod, status)
	}
}

func (p *PodWorkers) graceSeconds(w *worker) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return w.state.graceSeconds(time.Now())
}

// complete draws the conclusions of a step and returns the worker's phase. A step
// that was interrupted concludes nothing: what interrupted it is pending.
func (p *PodWorkers) complete(ctx context.Context, w *worker, s step, outcome podtypes.SyncOutcome, err error) Phase {
	var next request
	if s.phase == Syncing {
		next = p.request(UpdatePodOptions{Type: podtypes.SyncAgain, Pod: s.pod})
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	interrupted := ctx.Err() != nil
	w.interrupt()
	w.interrupt = nil
	w.acted(s, outcome)
	switch {
	case interrupted:
	case err != nil:
		p.failed(w, s, err, outcome.RetryAfter)
		p.heedDeadline(w, next)
	case s.phase == Syncing:
		w.failures = 0
		next.terminal = next.terminal || outcome.Terminal
		p.synced(w, next, outcome.RetryAfter)
	default:
		w.failures = 0
		p.advance(w)
	}
	return w.state.phase
}

// acted notes when the step had last done something in the runtime. Only SyncPod
// tells; of the others, which are few, the end is good enough.
func (w *worker) acted(s step, outcome podtypes.SyncOutcome) {
	switch {
	case s.phase != Syncing:
		w.actedAt = time.Now()
	case !outcome.ActedAt.IsZero():
		w.actedAt = outcome.ActedAt
	}
}

// failed has a step tried again, no later than the syncer asks.
func (p *PodWorkers) failed(w *worker, s step, err error, retryAfter time.Duration) {
	w.failures++
	after := sooner(backOff(w.failures), retryAfter)
	p.logger.Warn("pod step failed", "pod", w.fullName, "uid", w.uid, "phase", s.phase.String(), "retry", after, "err", err)
	p.queue.set(w.uid, time.Now().Add(after))
	p.notify()
}

// synced ends a pod that has ended by itself, or has it looked at again later.
func (p *PodWorkers) synced(w *worker, r request, retryAfter time.Duration) {
	p.queue.set(w.uid, r.now.Add(sooner(resyncAfter(), retryAfter)))
	p.notify()
	if r.ends() {
		p.apply(w, r)
		return
	}
	p.heedDeadline(w, r)
}

// advance takes a worker to its next phase, and lets go of what waits for that.
func (p *PodWorkers) advance(w *worker) {
	w.state = w.state.completed()
	w.release()
	if w.state.phase != Finished {
		w.pend(podtypes.SyncKill)
		return
	}
	p.queue.forget(w.uid)
	if successor := p.names.remove(w); successor != nil {
		successor.signal()
	}
}
