// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pleg

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/podtypes"
)

// queue is a set of UIDs to be read, first come first served. A UID that is being
// read, or held, is handed out only after that, so that readings of one pod never
// overlap. One that is there for hints alone is handed out if they are still news
// when its turn comes.
type queue struct {
	// ready holds a token while order is not empty.
	ready chan struct{}
	news  func(podtypes.Hint) bool

	mu    sync.Mutex
	order []types.UID
	// waiting says why a UID is to be read. All that are neither active nor held
	// are in order.
	waiting map[types.UID]*reasons
	// active is since when UIDs are being read.
	active map[types.UID]time.Time
	held   map[types.UID]bool
}

// reasons are why a pod is to be read: somebody asked, or hints.
type reasons struct {
	asked bool
	hints []podtypes.Hint
}

// maxHints is how many hints of a pod are kept apart. More are as good as a request.
const maxHints = 32

func newQueue(news func(podtypes.Hint) bool) *queue {
	return &queue{
		ready:   make(chan struct{}, 1),
		news:    news,
		waiting: map[types.UID]*reasons{},
		active:  map[types.UID]time.Time{},
		held:    map[types.UID]bool{},
	}
}

// add never blocks.
func (q *queue) add(uid types.UID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.reasonsOf(uid).asked = true
}

// addAfter adds the UID unless a reading that began at min or later is under way.
func (q *queue) addAfter(uid types.UID, min time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if began, ok := q.active[uid]; ok && asOf(began, min) {
		return
	}
	q.reasonsOf(uid).asked = true
}

// hint adds the UID of a hint. It never blocks.
func (q *queue) hint(h podtypes.Hint) {
	q.mu.Lock()
	defer q.mu.Unlock()
	r := q.reasonsOf(h.UID)
	switch {
	case r.asked, slices.Contains(r.hints, h):
	case len(r.hints) == maxHints:
		r.asked = true
	default:
		r.hints = append(r.hints, h)
	}
}

// reasonsOf makes a UID wait, if it does not yet.
func (q *queue) reasonsOf(uid types.UID) *reasons {
	r, ok := q.waiting[uid]
	if !ok {
		r = &reasons{}
		q.waiting[uid] = r
		q.enqueue(uid)
	}
	return r
}

func (q *queue) hold(uid types.UID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.held[uid] = true
}

func (q *queue) release(uid types.UID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.held, uid)
	q.enqueue(uid)
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
	for len(q.order) > 0 {
		uid := q.order[0]
		q.order = q.order[1:]
		if !q.mayRead(uid) {
			continue
		}
		r := q.waiting[uid]
		delete(q.waiting, uid)
		if !r.asked && !slices.ContainsFunc(r.hints, q.news) {
			continue
		}
		q.active[uid] = time.Now()
		q.signal()
		return uid, true
	}
	return "", false
}

func (q *queue) done(uid types.UID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.active, uid)
	q.enqueue(uid)
}

// mayRead tells whether a UID waits and nothing else is done to it.
func (q *queue) mayRead(uid types.UID) bool {
	_, active := q.active[uid]
	return q.waiting[uid] != nil && !active && !q.held[uid]
}

// enqueue puts a UID in order, if it may be read.
func (q *queue) enqueue(uid types.UID) {
	if q.mayRead(uid) {
		q.order = append(q.order, uid)
		q.signal()
	}
}

// signal wakes a reader, if there is something in order.
func (q *queue) signal() {
	if len(q.order) == 0 {
		return
	}
	select {
	case q.ready <- struct{}{}:
	default:
	}
}
