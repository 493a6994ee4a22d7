// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pleg

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// queue is a set of UIDs to be read, first come first served. A UID that is
// being read is handed out again only after that reading, so that readings of
// one pod never overlap.
type queue struct {
	// ready holds a token while order is not empty.
	ready chan struct{}

	mu      sync.Mutex
	order   []types.UID
	waiting map[types.UID]bool
	active  map[types.UID]bool
}

func newQueue() *queue {
	return &queue{
		ready:   make(chan struct{}, 1),
		waiting: map[types.UID]bool{},
		active:  map[types.UID]bool{},
	}
}

// add never blocks.
func (q *queue) add(uid types.UID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiting[uid] {
		return
	}
	q.waiting[uid] = true
	if !q.active[uid] {
		q.enqueue(uid)
	}
}

// next waits for a UID; done must be called for it.
func (q *queue) next(ctx context.Context) (types.UID, error) {
	for {
		select {
		case <-q.ready:
		case <-ctx.Done():
			return "", ctx.Err()
		}
		if uid, ok := q.take(); ok {
			return uid, nil
		}
	}
}

func (q *queue) take() (types.UID, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.order) == 0 {
		return "", false
	}
	uid := q.order[0]
	q.order = q.order[1:]
	delete(q.waiting, uid)
	q.active[uid] = true
	if len(q.order) > 0 {
		q.signal()
	}
	return uid, true
}

func (q *queue) done(uid types.UID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.active, uid)
	if q.waiting[uid] {
		q.enqueue(uid)
	}
}

func (q *queue) enqueue(uid types.UID) {
	q.order = append(q.order, uid)
	q.signal()
}

func (q *queue) signal() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}
