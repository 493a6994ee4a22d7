// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package podworkers runs the life of every pod on the node: one goroutine per
// UID that brings the pod from its first sync to the release of all it held.
package podworkers

import (
	"context"
	"log/slog"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/podtypes"
)

// Config is what the workers need of others.
type Config struct {
	Syncer   Syncer
	Cache    StatusCache
	Statuses Statuses
	Recorder podtypes.EventRecorder
	Logger   *slog.Logger
}

// PodWorkers is told of pods by UpdatePod and calls the Syncer for them. One UID
// has one goroutine, so no two steps of a pod ever overlap, and one pending
// update, the newest. A pod goes this way, down only:
//
//	UpdatePod            worker of the UID                       the pod
//	---------            -----------------                       -------
//	create ───────────►  waits for its predecessor, a pod of
//	                     the same name that is not Finished
//	                 ┌►  Syncing: SyncPod                        starting,
//	update, sync ────┤     │ error: again after a back-off       running
//	a timer ─────────┘     │ outcome: again at its RetryAfter,
//	                       │   its deadline, or the resync
//	delete, kill,          │
//	deadline over,  ─────► ├ interrupts a SyncPod under way
//	terminal phase         ▼
//	                 ┌►  Terminating: SyncTerminatingPod         stopping
//	shorter grace ───┤     │ error: again, with what is left
//	  (interrupts)   └─────┤   of the grace
//	                       ▼
//	                     KillPodOptions.Completed is closed      nothing runs
//	                 ┌►  Terminated: SyncTerminatedPod
//	a timer ─────────┴─────┤ error: again after a back-off
//	                       ▼
//	create: noted, ───►  Finished; the goroutine ends, the       nothing is held
//	for later              successor by name may start           but what users
//	delete of a pod that   │                                     may still read
//	ended by itself: up to │
//	Terminated once more   ▼
//	SyncKnownPods ────►  forgotten, once no source wants the UID or a
//	                     create was noted: the caller creates it anew
//
// An orphan, known from the runtime alone, enters at Terminating with
// SyncTerminatingRuntimePod and is Finished after it.
//
// The first step of a UID takes the runtime's state as it is known; each later one
// waits for a reading that began after the last step that did something there.
//
// All methods may be called from any goroutine, and none waits for a step.
type PodWorkers struct {
	syncer   Syncer
	cache    StatusCache
	statuses Statuses
	recorder podtypes.EventRecorder
	logger   *slog.Logger

	// wake tells Run that a worker is new or the queue has changed.
	wake chan struct{}
	// due tells the reader of Due that GetWork has something.
	due chan struct{}

	mu      sync.Mutex
	workers map[types.UID]*worker
	// unstarted are those whose goroutine Run has still to start.
	unstarted []*worker
	queue     *workQueue
	names     nameOrder
	// lastRun is when the former run last did something, of those that are to start
	// anew.
	lastRun map[types.UID]time.Time
}

// New returns workers that begin to work when Run is called; updates before it
// are kept.
func New(c Config) *PodWorkers {
	return &PodWorkers{
		syncer: c.Syncer, cache: c.Cache, statuses: c.Statuses, recorder: c.Recorder, logger: c.Logger,
		wake: make(chan struct{}, 1), due: make(chan struct{}, 1),
		workers: map[types.UID]*worker{}, queue: newWorkQueue(), names: nameOrder{},
		lastRun: map[types.UID]time.Time{},
	}
}

// Run works until the context ends, and returns nil when all goroutines of the
// workers have ended. Pods are left as they are.
func (p *PodWorkers) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		for _, w := range p.takeUnstarted() {
			wg.Go(func() { p.podWorkerLoop(ctx, w) })
		}
		p.arm(timer)
		select {
		case <-ctx.Done():
			return nil
		case <-p.wake:
		case <-timer.C:
		}
	}
}

func (p *PodWorkers) takeUnstarted() []*worker {
	p.mu.Lock()
	defer p.mu.Unlock()
	unstarted := p.unstarted
	p.unstarted = nil
	return unstarted
}

// UpdatePod tells the workers what is new of a pod. It is the only way into a
// worker's life.
func (p *PodWorkers) UpdatePod(o UpdatePodOptions) {
	if o.Pod == nil && o.RuntimePod == nil {
		p.logger.Error("update without a pod", "type", o.Type.String())
		return
	}
	r := p.request(o)
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.workers[o.uid()]
	if w == nil {
		w = p.add(o)
	} else if r.orphan {
		return
	}
	w.take(o)
	p.apply(w, r)
}

// DispatchPod is UpdatePod for what the sources say: create and update bring a
// pod, kill says that its source no longer has it.
func (p *PodWorkers) DispatchPod(kind podtypes.SyncType, pod, mirror *corev1.Pod) {
	p.UpdatePod(UpdatePodOptions{Type: kind, Pod: pod, Mirror: mirror})
}

// KillOrphan is UpdatePod for what only the runtime knows.
func (p *PodWorkers) KillOrphan(running *podtypes.RuntimePod) {
	p.UpdatePod(UpdatePodOptions{Type: podtypes.SyncKill, RuntimePod: running})
}

// Resync asks for another step of a pod, with what its worker knows of it: after
// an event of the runtime, or when GetWork names it. An unknown UID is ignored.
func (p *PodWorkers) Resync(uid types.UID) {
	p.mu.Lock()
	w := p.workers[uid]
	if w == nil {
		p.mu.Unlock()
		return
	}
	o := UpdatePodOptions{Type: podtypes.SyncAgain, Pod: w.pod, RuntimePod: w.runtimePod}
	p.mu.Unlock()

	r := p.request(o) // asks others, so not under the lock
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.workers[uid] == w {
		p.apply(w, r)
	}
}

// add makes a worker, behind those of the same name.
func (p *PodWorkers) add(o UpdatePodOptions) *worker {
	w := newWorker(o)
	w.actedAt = p.lastRun[w.uid]
	delete(p.lastRun, w.uid)
	p.workers[w.uid] = w
	p.enlist(w)
	return w
}

// enlist has a goroutine started for a worker.
func (p *PodWorkers) enlist(w *worker) {
	p.names.add(w)
	p.unstarted = append(p.unstarted, w)
	p.notify()
}

// apply makes a worker follow a request, and sees to the pod's deadline.
func (p *PodWorkers) apply(w *worker, r request) {
	before := w.state.phase
	w.apply(r)
	switch {
	case before == Finished && w.state.phase == Terminated:
		p.enlist(w)
	case before == Syncing && r.overdue:
		if w.mutate == nil {
			w.mutate = deadlineExceeded
		}
		p.recorder.Record(w.pod, "", corev1.EventTypeNormal, deadlineReason, deadlineMessage)
	default:
		p.heedDeadline(w, r)
	}
}

// heedDeadline has an active pod looked at when its deadline is over.
func (p *PodWorkers) heedDeadline(w *worker, r request) {
	if w.state.phase == Syncing && !r.deadline.IsZero() {
		p.queue.sooner(w.uid, r.deadline)
		p.notify()
	}
}

func (p *PodWorkers) notify() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Due tells that GetWork has something.
func (p *PodWorkers) Due() <-chan struct{} { return p.due }

// GetWork takes out the pods whose time for another step has come: a resync, a
// retry that the syncer asked for, the end of a back-off, or a deadline. The
// caller answers with Resync.
func (p *PodWorkers) GetWork() []types.UID {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notify()
	return p.queue.due(time.Now())
}

// arm sets the timer to the next pod that is due. When one is due already it says
// so, and waits for GetWork without a timer.
func (p *PodWorkers) arm(timer *time.Timer) {
	p.mu.Lock()
	at, ok := p.queue.next()
	p.mu.Unlock()
	timer.Stop()
	if !ok {
		return
	}
	if wait := time.Until(at); wait > 0 {
		timer.Reset(wait)
		return
	}
	select {
	case p.due <- struct{}{}:
	default:
	}
}
