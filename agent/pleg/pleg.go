// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pleg

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/internal/sleep"
)

// Runtime is what is asked of the container runtime.
type Runtime interface {
	// ListPods returns every pod of this node that the runtime has.
	ListPods(ctx context.Context) ([]*podtypes.RuntimePod, error)
	// PodStatus reads one pod. A pod that the runtime does not have is an empty
	// status or an error that wraps podtypes.ErrNotFound.
	PodStatus(ctx context.Context, uid types.UID) (*podtypes.PodStatus, error)
	// WatchEvents calls hint for each event until the stream ends.
	WatchEvents(ctx context.Context, hint func(podtypes.Hint)) error
}

// Options tune a PLEG; zero values take the defaults.
type Options struct {
	Logger *slog.Logger
	// Metrics, where set, gets the metrics of listings and of what runs.
	Metrics prometheus.Registerer
	// RelistPeriod is the time between listings while events flow; 10 s.
	RelistPeriod time.Duration
	// EventlessRelistPeriod is the same while the event stream is down or not
	// older than itself; 1 s.
	EventlessRelistPeriod time.Duration
	// CallTimeout ends a call of the runtime that hangs; 15 s.
	CallTimeout time.Duration
	// Readers is how many pods are read at once; 8.
	Readers int
	// UnhealthyAfter is how old the last listing may be; 3 min.
	UnhealthyAfter time.Duration
}

func (o Options) withDefaults() Options {
	set := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	set(&o.RelistPeriod, 10*time.Second)
	set(&o.EventlessRelistPeriod, time.Second)
	set(&o.CallTimeout, 15*time.Second)
	set(&o.UnhealthyAfter, 3*time.Minute)
	if o.Readers == 0 {
		o.Readers = 8
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// PLEG watches all pods of a runtime. Its methods are safe for concurrent use.
type PLEG struct {
	runtime Runtime
	options Options
	logger  *slog.Logger

	queue  *queue
	cache  *cache
	outbox *outbox
	stream *stream

	relistTook prometheus.Histogram

	mu         sync.Mutex
	lastRelist time.Time
	relistErr  error
}

// New returns a PLEG that does nothing until Run.
func New(runtime Runtime, options Options) *PLEG {
	options = options.withDefaults()
	known := newCache()
	p := &PLEG{
		runtime: runtime,
		options: options,
		logger:  options.Logger,
		queue:   newQueue(known.isNews),
		cache:   known,
		outbox:  newOutbox(),
		stream:  newStream(),

		relistTook: newRelistDuration(options.Metrics),
	}
	p.show(options.Metrics)
	return p
}

// Run works until ctx ends and returns when all its goroutines have.
func (p *PLEG) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return p.watch(ctx) })
	g.Go(func() error { return p.relistLoop(ctx) })
	g.Go(func() error { return p.outbox.forward(ctx) })
	for range p.options.Readers {
		g.Go(func() error { return p.readLoop(ctx) })
	}
	return g.Wait()
}

// Events delivers what happened to pods. An event that waits here for a reader
// is not doubled by an equal one.
func (p *PLEG) Events() <-chan podtypes.Event { return p.outbox.events }

// Request asks for a fresh reading of the pod at once. It never blocks.
func (p *PLEG) Request(uid types.UID) { p.queue.add(uid) }

// Hold puts off all readings of the pod until the returned function is called: while
// it is worked on, each would be out of date at once. One holder at a time.
func (p *PLEG) Hold(uid types.UID) (release func()) {
	p.queue.hold(uid)
	return func() { p.queue.release(uid) }
}

// GetNewerThan returns a status of the pod whose reading began at min or later, so
// that it shows what ended before min was noted. It joins such a reading, or asks for
// one, and waits for it; with a zero min any will do, and nothing is waited for but
// the first listing. A pod that the runtime does not
// have has an empty status. If the newest reading failed, its error is returned
// with the last status that was read, if any.
func (p *PLEG) GetNewerThan(ctx context.Context, uid types.UID, min time.Time) (*podtypes.PodStatus, error) {
	if r, ok, _ := p.cache.newerThan(uid, min); ok {
		return r.status, r.err
	}
	if err := p.requestAfter(ctx, uid, min); err != nil {
		return nil, fmt.Errorf("pod %s: waiting for its status: %w", uid, err)
	}
	for {
		r, ok, changed := p.cache.newerThan(uid, min)
		if ok {
			return r.status, r.err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, fmt.Errorf("pod %s: waiting for its status: %w", uid, ctx.Err())
		}
	}
}

// requestAfter asks for a reading that begins at min or later.
func (p *PLEG) requestAfter(ctx context.Context, uid types.UID, min time.Time) error {
	if min.IsZero() {
		return nil
	}
	if err := sleep.For(ctx, time.Until(min)); err != nil {
		return err
	}
	p.queue.addAfter(uid, min)
	return nil
}

// Pod returns what is known of a pod without a call, nil if the runtime has nothing
// of it, and as of when; the zero time before the first listing. The channel is closed
// when there may be more to know.
func (p *PLEG) Pod(uid types.UID) (pod *podtypes.RuntimePod, at time.Time, changed <-chan struct{}) {
	return p.cache.pod(uid)
}

// Pods returns every pod that the runtime has, by the newest reading of each and
// without a call.
func (p *PLEG) Pods() []*podtypes.RuntimePod { return p.cache.pods() }

// Healthy returns nil while listings succeed; otherwise since when none did.
func (p *PLEG) Healthy() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.lastRelist.IsZero():
		return fmt.Errorf("pleg was not successful yet: %w", orNone(p.relistErr))
	case time.Since(p.lastRelist) > p.options.UnhealthyAfter:
		return fmt.Errorf("pleg was last seen active %s ago; threshold is %s: %w",
			time.Since(p.lastRelist).Round(time.Second), p.options.UnhealthyAfter, orNone(p.relistErr))
	}
	return nil
}
