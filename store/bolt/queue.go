// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"sync"

	"github.com/berth-run/berth/store"
)

// queue hands writes to the committer in order. Its length is bounded by the
// callers, each of whom waits for one write.
type queue struct {
	// ready holds a token after a write was added or the queue was closed.
	ready chan struct{}

	mu     sync.Mutex
	writes []*write
	closed bool
}

func newQueue() *queue {
	return &queue{ready: make(chan struct{}, 1)}
}

func (q *queue) add(w *write) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return store.ErrClosed
	}
	q.writes = append(q.writes, w)
	q.wake()
	return nil
}

// take removes and returns all writes, and reports whether more can come.
func (q *queue) take() (writes []*write, open bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	writes, q.writes = q.writes, nil
	return writes, !q.closed
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.wake()
}

func (q *queue) wake() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}
