// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// follower is one reader of a node's part of the index: it collects what has to
// be looked at again. What it keeps is bounded by what the node has and what the
// reader holds, however slow the reader is.
type follower struct {
	// wake has a token whenever there is something to take.
	wake    chan struct{}
	pods    *marks[types.UID]
	objects *marks[objectKey]

	mu sync.Mutex
	// last has the last state of pods that are gone and that the reader may hold.
	last map[types.UID]record
}

func newFollower() *follower {
	wake := make(chan struct{}, 1)
	return &follower{
		wake: wake, pods: newMarks[types.UID](wake), objects: newMarks[objectKey](wake), last: map[types.UID]record{},
	}
}

// podGone marks a pod that is no more, and keeps its last state for a reader who
// may hold it.
func (f *follower) podGone(uid types.UID, last record) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pods.gone(uid) {
		f.last[uid] = last
	}
}

// takeLast returns the last state of a pod that is gone, if it is known, once.
func (f *follower) takeLast(uid types.UID) record {
	f.mu.Lock()
	defer f.mu.Unlock()
	last := f.last[uid]
	delete(f.last, uid)
	return last
}

// marks is a set of keys in the order in which they were first marked.
type marks[K comparable] struct {
	wake chan struct{}

	mu sync.Mutex
	// dirty says which of order still count: the others were marked, and then
	// gone before anyone took them.
	dirty map[K]struct{}
	order []K
	// known has the keys that the reader may hold.
	known map[K]struct{}
}

func newMarks[K comparable](wake chan struct{}) *marks[K] {
	return &marks[K]{wake: wake, dirty: map[K]struct{}{}, known: map[K]struct{}{}}
}

// changed marks a key.
func (m *marks[K]) changed(key K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mark(key)
}

// gone marks the key of something that is no more, and tells that it has, unless
// the reader has never had it.
func (m *marks[K]) gone(key K) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.known[key]; ok {
		m.mark(key)
		return true
	}
	delete(m.dirty, key)
	return false
}

func (m *marks[K]) mark(key K) {
	if _, ok := m.dirty[key]; ok {
		return
	}
	if len(m.order) > 2*len(m.dirty)+64 {
		m.order = m.live()
	}
	m.dirty[key] = struct{}{}
	m.order = append(m.order, key)
	signal(m.wake)
}

// live returns the keys of order that count, each once, by its last mark.
func (m *marks[K]) live() []K {
	seen := make(map[K]struct{}, len(m.dirty))
	keys := make([]K, 0, len(m.dirty))
	for i := len(m.order) - 1; i >= 0; i-- {
		key := m.order[i]
		_, dirty := m.dirty[key]
		if _, twice := seen[key]; dirty && !twice {
			seen[key] = struct{}{}
			keys = append(keys, key)
		}
	}
	slices.Reverse(keys)
	return keys
}

// take returns the marked keys, which are known from then on.
func (m *marks[K]) take() []K {
	m.mu.Lock()
	defer m.mu.Unlock()
	keys := m.live()
	for _, key := range keys {
		m.known[key] = struct{}{}
	}
	m.order = nil
	clear(m.dirty)
	return keys
}

// hold notes that the reader may hold the keys.
func (m *marks[K]) hold(keys []K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range keys {
		m.known[key] = struct{}{}
	}
}

// forget notes that the reader no longer has the key.
func (m *marks[K]) forget(key K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.known, key)
}

// signal puts a token into a channel of one, if it is not there.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
