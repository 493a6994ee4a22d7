// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package reconcile works off a queue of keys whose objects have to be looked at.
// What waits twice is looked at once, no key is looked at by two workers at a
// time, and one that fails comes again after a back-off.
package reconcile

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// Queue holds the keys. Run ends it.
type Queue[K comparable] = workqueue.TypedRateLimitingInterface[K]

// Bounds of the back-off of a key that fails again and again.
const (
	firstRetry = 50 * time.Millisecond
	lastRetry  = 30 * time.Second
)

// NewQueue returns an empty queue. It is to be run.
func NewQueue[K comparable]() Queue[K] {
	return workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[K](firstRetry, lastRetry))
}

// Run has workers look at the keys of the queue until ctx ends, and returns when
// none is at work. Keys that are added afterwards are dropped.
func Run[K comparable](ctx context.Context, q Queue[K], workers int, log *slog.Logger, look func(context.Context, K) error) {
	stop := context.AfterFunc(ctx, q.ShutDown)
	defer stop()
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for next(ctx, q, log, look) {
			}
		})
	}
	running.Wait()
}

// next looks at one key, and returns false when the queue has ended.
func next[K comparable](ctx context.Context, q Queue[K], log *slog.Logger, look func(context.Context, K) error) bool {
	key, ended := q.Get()
	if ended {
		return false
	}
	defer q.Done(key)
	err := look(ctx, key)
	switch {
	case err == nil:
		q.Forget(key)
	case ctx.Err() == nil:
		log.Warn("it is tried again", "key", key, "failures", q.NumRequeues(key)+1, "err", err)
		q.AddRateLimited(key)
	}
	return true
}
