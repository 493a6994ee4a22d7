// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package events

import (
	"container/heap"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// entry is one stored event, as far as it matters for its removal.
type entry struct {
	uid             types.UID
	namespace, name string
	// revision is its resourceVersion, which rises with every write.
	revision uint64
	// last is when the event was written last, by the clock that no one sets.
	last time.Time
	// at is its place in the ledger's order.
	at int
}

// ledger knows of all stored events which are to go first. Its users hold a lock.
type ledger struct {
	order byLast
	byUID map[types.UID]*entry
}

func newLedger() *ledger { return &ledger{byUID: map[types.UID]*entry{}} }

// has tells whether this version of the event is known.
func (l *ledger) has(uid types.UID, revision uint64) bool {
	known := l.byUID[uid]
	return known != nil && known.revision == revision
}

// set puts an event in its place, and its former version out.
func (l *ledger) set(e *entry) {
	l.remove(e.uid)
	l.byUID[e.uid] = e
	heap.Push(&l.order, e)
}

func (l *ledger) remove(uid types.UID) {
	if known := l.byUID[uid]; known != nil {
		delete(l.byUID, uid)
		heap.Remove(&l.order, known.at)
	}
}

func (l *ledger) len() int { return len(l.order) }

// takeOldest takes out up to n events, the oldest first, while they are to go.
func (l *ledger) takeOldest(n int, due func(*entry) bool) []*entry {
	var taken []*entry
	for len(taken) < n && l.len() > 0 && due(l.order[0]) {
		oldest := l.order[0]
		l.remove(oldest.uid)
		taken = append(taken, oldest)
	}
	return taken
}

// byLast is a heap: the entry that was written first comes first.
type byLast []*entry

func (h byLast) Len() int { return len(h) }

func (h byLast) Less(i, j int) bool {
	if c := h[i].last.Compare(h[j].last); c != 0 {
		return c < 0
	}
	return h[i].revision < h[j].revision
}

func (h byLast) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].at, h[j].at = i, j
}

func (h *byLast) Push(x any) {
	e := x.(*entry)
	e.at = len(*h)
	*h = append(*h, e)
}

func (h *byLast) Pop() any {
	last := (*h)[len(*h)-1]
	(*h)[len(*h)-1] = nil
	*h = (*h)[:len(*h)-1]
	return last
}
