// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	nodepb "github.com/berth-run/berth/proto/berth/node/v1"
)

// appliers bounds the reports of one session that are applied at once: enough to
// share the store's commits.
const appliers = 64

// applier applies the status reports of one session: those of one pod in order,
// those of different pods at once.
type applier struct {
	// apply tells whether a failure is for good.
	apply func(ctx context.Context, r *nodepb.PodStatusReport) (final bool, err error)
	ack   func(*nodepb.StatusAck)

	slots   chan struct{}
	workers sync.WaitGroup
	mu      sync.Mutex
	pods    map[string]*podReports
}

// podReports is what an applier knows of one pod.
type podReports struct {
	// last is the highest version that came.
	last uint64
	// next is the newest report that nobody works on yet.
	next *nodepb.PodStatusReport
	busy bool
	// gone: once nobody works on it, it is to be forgotten.
	gone bool
}

func newApplier(apply func(context.Context, *nodepb.PodStatusReport) (bool, error), ack func(*nodepb.StatusAck)) *applier {
	return &applier{
		apply: apply,
		ack:   ack,
		slots: make(chan struct{}, appliers),
		pods:  map[string]*podReports{},
	}
}

// submit takes a report. One that is no newer than another of its pod is
// superseded, and acknowledged as such.
func (a *applier) submit(ctx context.Context, r *nodepb.PodStatusReport) {
	a.mu.Lock()
	defer a.mu.Unlock()
	p := a.pods[r.GetUid()]
	if p == nil {
		p = &podReports{}
		a.pods[r.GetUid()] = p
	}
	if r.GetVersion() <= p.last {
		a.ack(&nodepb.StatusAck{Uid: r.GetUid(), Version: r.GetVersion()})
		return
	}
	p.last, p.next, p.gone = r.GetVersion(), r, false
	if !p.busy {
		p.busy = true
		a.workers.Go(func() { a.work(ctx, r.GetUid(), p) })
	}
}

// forget drops what is known of a pod that the node no longer has.
func (a *applier) forget(uid string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	p := a.pods[uid]
	switch {
	case p == nil:
	case p.busy:
		p.gone = true
	default:
		delete(a.pods, uid)
	}
}

// wait returns when no report is being applied any more; submit's context ends
// them.
func (a *applier) wait() { a.workers.Wait() }

// work applies the reports of one pod until there is none.
func (a *applier) work(ctx context.Context, uid string, p *podReports) {
	select {
	case a.slots <- struct{}{}:
		defer func() { <-a.slots }()
	case <-ctx.Done():
		return
	}
	for r := a.take(uid, p); r != nil; r = a.take(uid, p) {
		err := a.applyUntilFinal(ctx, p, r)
		if ctx.Err() != nil {
			return
		}
		ack := &nodepb.StatusAck{Uid: uid, Version: r.GetVersion()}
		if err != nil {
			ack.Error = err.Error()
		}
		if err != nil || r.GetTerminated() {
			a.markGone(p)
		}
		a.ack(ack)
	}
}

// take returns the pod's next report; without one, the pod is no longer busy.
func (a *applier) take(uid string, p *podReports) *nodepb.PodStatusReport {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := p.next
	p.next = nil
	if r == nil {
		p.busy = false
		if p.gone {
			delete(a.pods, uid)
		}
	}
	return r
}

// markGone: a pod whose report was refused is not this node's, or no more, and of one
// that has ended hardly another one comes.
func (a *applier) markGone(p *podReports) {
	a.mu.Lock()
	defer a.mu.Unlock()
	p.gone = p.next == nil
}

// applyUntilFinal tries again after a passing failure, unless a newer report has
// come.
func (a *applier) applyUntilFinal(ctx context.Context, p *podReports, r *nodepb.PodStatusReport) error {
	backoff := wait.Backoff{Duration: 50 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 16, Cap: 5 * time.Second}
	for {
		final, err := a.apply(ctx, r)
		if err == nil || final || ctx.Err() != nil {
			return err
		}
		if a.superseded(p) {
			return nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(backoff.Step()):
		}
	}
}

func (a *applier) superseded(p *podReports) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return p.next != nil
}
