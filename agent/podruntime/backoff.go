// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	firstCrashDelay = 10 * time.Second
	maxCrashDelay   = 300 * time.Second
	// crashReset is how long a container has to run to be taken for healthy again.
	crashReset = 10 * time.Minute
)

// crashBackOff delays the restarts of containers that keep ending: the first
// restart is made at once, the next 10 s after the end, then twice that each time,
// 300 s at most. A container that ran for ten minutes, or was given another
// definition, starts over.
//
// It reckons from what it saw itself, on the monotonic clock: a step of the wall
// clock neither hurries nor holds up a restart. It is lost with the agent.
type crashBackOff struct {
	mu      sync.Mutex
	entries map[crashKey]*crash
}

type crashKey struct {
	uid       types.UID
	container string
}

// crash is a container that was restarted at least once.
type crash struct {
	identity string
	// delay before the next restart.
	delay time.Duration
	// startedAt is when the last restart was made.
	startedAt time.Time
	// deadID is the instance that was last seen ended, first at deadAt.
	deadID string
	deadAt time.Time
}

func newCrashBackOff() *crashBackOff {
	return &crashBackOff{entries: map[crashKey]*crash{}}
}

// wait returns how long the restart of an ended instance has to wait still.
func (b *crashBackOff) wait(key crashKey, identity, deadID string) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, ok := b.entries[key]
	if !ok {
		return 0
	}
	if e.deadID != deadID {
		e.deadID, e.deadAt = deadID, time.Now()
	}
	if e.identity != identity || e.deadAt.Sub(e.startedAt) > crashReset {
		delete(b.entries, key)
		return 0
	}
	return max(0, e.delay-time.Since(e.deadAt))
}

// restarted notes that a container was started in place of an ended one.
func (b *crashBackOff) restarted(key crashKey, identity string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, ok := b.entries[key]
	if !ok {
		e = &crash{identity: identity, delay: firstCrashDelay / 2}
		b.entries[key] = e
	}
	e.delay = min(2*e.delay, maxCrashDelay)
	e.startedAt = time.Now()
}

// forget drops what is known of a pod that is gone.
func (b *crashBackOff) forget(uid types.UID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key := range b.entries {
		if key.uid == uid {
			delete(b.entries, key)
		}
	}
}
