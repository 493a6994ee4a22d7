// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pleg

import (
	"context"
	"sync"
	"time"

	"github.com/berth-run/berth/internal/sleep"
)

// How long to wait before events are subscribed to again.
const (
	firstRetry   = 100 * time.Millisecond
	longestRetry = 5 * time.Second
)

// watch keeps a subscription to the runtime's events.
func (p *PLEG) watch(ctx context.Context) error {
	retry := firstRetry
	for {
		p.stream.set(true)
		err := p.runtime.WatchEvents(ctx, p.queue.hint)
		_, age := p.stream.state()
		p.stream.set(false)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if age > longestRetry {
			retry = firstRetry
		}
		p.logger.Warn("the runtime's event stream ended", "err", err, "retry", retry)
		if err := sleep.For(ctx, retry); err != nil {
			return err
		}
		retry = min(2*retry, longestRetry)
	}
}

// stream knows whether events are subscribed to, and since when.
type stream struct {
	// changed wakes the relist loop at each change.
	changed chan struct{}

	mu    sync.Mutex
	up    bool
	since time.Time
}

func newStream() *stream { return &stream{changed: make(chan struct{}, 1)} }

func (s *stream) set(up bool) {
	s.mu.Lock()
	s.up, s.since = up, time.Now()
	s.mu.Unlock()
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// state returns whether the stream is up and how long it has been so.
func (s *stream) state() (up bool, age time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.up, time.Since(s.since)
}
