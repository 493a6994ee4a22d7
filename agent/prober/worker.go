// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package prober

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/internal/sleep"
)

// worker makes one probe of one container for as long as that runs.
type worker struct {
	manager   *Manager
	instance  *instance
	pod       *corev1.Pod
	container *corev1.Container
	podIP     string
	kind      podtypes.ProbeKind
	probe     *corev1.Probe
	// delay before the first try.
	delay time.Duration

	// The manager's lock guards what follows.

	stopped bool
	cancel  context.CancelFunc
}

// run asks again and again, one try after another, until the context ends or the
// probe has said all that it is for.
func (w *worker) run(ctx context.Context) {
	if sleep.For(ctx, w.delay) != nil || !w.awaitStarted(ctx) {
		return
	}
	ticks := time.NewTicker(max(seconds(w.probe.PeriodSeconds), time.Second))
	defer ticks.Stop()
	var t tally
	for w.try(ctx, &t) {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
	}
}

// try asks once, has known what follows, and tells whether to go on. Of a container
// that has ended an answer says nothing.
func (w *worker) try(ctx context.Context, t *tally) bool {
	outcome := w.ask(ctx)
	ended := outcome.Result != podtypes.ProbeSuccess && w.hasEnded(ctx)
	switch {
	case ctx.Err() != nil: // broken off
		return false
	case ended:
		w.noteEnd(ctx)
		return false
	}
	w.tell(outcome)
	says := t.add(outcome.Result, w.probe)
	if says != podtypes.ProbeUnknown {
		w.manager.note(ctx, w, says)
	}
	return !w.isOver(says)
}

func (w *worker) hasEnded(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, w.timeout())
	defer cancel()
	return w.manager.cfg.Runtime.HasEnded(ctx, w.instance.id)
}

// noteEnd: what has ended is not ready. The other kinds are about what is to be stopped,
// which this one need not be.
func (w *worker) noteEnd(ctx context.Context) {
	if w.kind == podtypes.Readiness {
		w.manager.note(ctx, w, podtypes.ProbeFailure)
	}
}

// awaitStarted waits for the container's startup probe, unless it is this one.
func (w *worker) awaitStarted(ctx context.Context) bool {
	if w.kind == podtypes.Startup {
		return true
	}
	select {
	case <-ctx.Done():
		return false
	case <-w.instance.started:
		return true
	}
}

// isOver: a container that has started has done so for good, and one that has failed
// is going to be stopped.
func (w *worker) isOver(says podtypes.ProbeResult) bool {
	switch w.kind {
	case podtypes.Startup:
		return says != podtypes.ProbeUnknown
	case podtypes.Liveness:
		return says == podtypes.ProbeFailure
	}
	return false
}

// stop is called with the manager's lock held. What the worker still finds out is
// dropped.
func (w *worker) stop() {
	w.stopped = true
	if w.cancel != nil {
		w.cancel()
	}
}
