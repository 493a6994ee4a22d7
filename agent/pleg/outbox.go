// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pleg

import (
	"context"
	"sync"

	"github.com/berth-run/berth/agent/podtypes"
)

// outbox keeps events until the sync loop takes them, so that a slow loop holds
// up no reader. Its size is bounded by the containers there are: an event that
// waits is not added again.
type outbox struct {
	events chan podtypes.Event
	ready  chan struct{}

	mu      sync.Mutex
	pending []podtypes.Event
	waiting map[podtypes.Event]bool
}

func newOutbox() *outbox {
	return &outbox{
		events:  make(chan podtypes.Event),
		ready:   make(chan struct{}, 1),
		waiting: map[podtypes.Event]bool{},
	}
}

func (o *outbox) add(events ...podtypes.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range events {
		if !o.waiting[e] {
			o.waiting[e] = true
			o.pending = append(o.pending, e)
		}
	}
	select {
	case o.ready <- struct{}{}:
	default:
	}
}

// forward delivers events in the order in which they were seen.
func (o *outbox) forward(ctx context.Context) error {
	for {
		select {
		case <-o.ready:
		case <-ctx.Done():
			return ctx.Err()
		}
		for e, ok := o.take(); ok; e, ok = o.take() {
			select {
			case o.events <- e:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
}

func (o *outbox) take() (podtypes.Event, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.pending) == 0 {
		return podtypes.Event{}, false
	}
	e := o.pending[0]
	o.pending = o.pending[1:]
	delete(o.waiting, e)
	return e, true
}
