// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"sync"
	"sync/atomic"

	"github.com/berth-run/berth/store"
)

// hub holds the newest snapshot and the watchers that follow it. Both move on
// together, so that a watcher that joined at a snapshot gets every later event.
type hub struct {
	current atomic.Pointer[snapshot]

	mu       sync.Mutex
	watchers map[*watcher]struct{}
	closed   bool
}

func newHub(s *snapshot) *hub {
	h := &hub{watchers: map[*watcher]struct{}{}}
	h.current.Store(s)
	return h
}

// publish makes next the newest snapshot and hands the events that led to it
// to the watchers. It waits for no reader.
func (h *hub) publish(next *snapshot, events []store.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.current.Store(next)
	for w := range h.watchers {
		if !w.deliver(events) {
			delete(h.watchers, w)
		}
	}
}

// join makes w follow and returns the snapshot after which its events begin.
func (h *hub) join(w *watcher) (*snapshot, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, store.ErrClosed
	}
	h.watchers[w] = struct{}{}
	return h.current.Load(), nil
}

func (h *hub) leave(w *watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.watchers, w)
}

// watching is how many watchers follow.
func (h *hub) watching() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.watchers)
}

// mark tells the idle watchers how far the store has come.
func (h *hub) mark() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for w := range h.watchers {
		w.mark(h.current.Load().revision)
	}
}

// close ends all watches.
func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for w := range h.watchers {
		w.end(store.ErrClosed)
	}
	clear(h.watchers)
}
