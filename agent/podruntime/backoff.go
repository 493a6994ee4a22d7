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
	// together is how long a container may be seen ended before its sandbox is, and
	// have ended with it: a runtime stops one after the other.
	together = 5 * time.Second
)

// crashBackOff delays the restarts of containers that keep ending: the first
// restart is made at once, the next 10 s after the end, then twice that each time,
// 300 s at most. A container that ran for ten minutes, or was given another
// definition, starts over. One that ended with its sandbox, whoever stopped that,
// did not crash: it starts at once in the next.
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

// crash is a container that ended at least once.
type crash struct {
	identity string
	// delay before the next restart; 0 before the first.
	delay time.Duration
	// startedAt is when the last restart was made.
	startedAt time.Time
	// deadID is the instance that was last seen ended, first at deadAt.
	deadID string
	deadAt time.Time
	// excusedID is the instance that last ended with its sandbox.
	excusedID string
	// movedAt is when it was last started in another sandbox than before.
	movedAt time.Time
}

func newCrashBackOff() *crashBackOff {
	return &crashBackOff{entries: map[crashKey]*crash{}}
}

// wait returns how long the restart of an instance that ended has to wait still.
func (b *crashBackOff) wait(key crashKey, identity, deadID string) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.entry(key, identity)
	if e.deadID != deadID {
		e.deadID, e.deadAt = deadID, time.Now()
	}
	if !e.startedAt.IsZero() && e.deadAt.Sub(e.startedAt) > crashReset {
		e.delay = 0
	}
	return max(0, e.delay-time.Since(e.deadAt))
}

// delay returns how long a restart waits from the end of the instance before.
func (b *crashBackOff) delay(key crashKey, identity string) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.entry(key, identity).delay
}

// endedWithSandbox tells whether an instance whose sandbox has ended did so because
// of that, and excuses it. A sandbox that was new is no excuse: the container may be
// what ends them.
func (b *crashBackOff) endedWithSandbox(key crashKey, identity, deadID string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.entry(key, identity)
	switch {
	case e.excusedID == deadID:
		return true
	case e.deadID == deadID && time.Since(e.deadAt) > together:
		return false
	case !e.movedAt.IsZero() && time.Since(e.movedAt) < firstCrashDelay:
		return false
	}
	e.excusedID = deadID
	if !e.startedAt.IsZero() && time.Since(e.startedAt) < together {
		// The restart was made for the sandbox's end too, before that showed.
		e.takeBack()
	}
	return true
}

// isExcused tells whether that instance ended with its sandbox.
func (b *crashBackOff) isExcused(key crashKey, deadID string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, ok := b.entries[key]
	return ok && e.excusedID == deadID
}

// restarted notes that a container was started in place of the ended instance.
func (b *crashBackOff) restarted(key crashKey, identity, deadID string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.entry(key, identity)
	e.startedAt = time.Now()
	if e.excusedID != deadID {
		e.delay = min(max(2*e.delay, firstCrashDelay), maxCrashDelay)
	}
}

// moved notes that a container was started in another sandbox than before.
func (b *crashBackOff) moved(key crashKey, identity string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.entry(key, identity).movedAt = time.Now()
}

// takeBack undoes the last restart's part in the delay.
func (e *crash) takeBack() {
	if e.delay /= 2; e.delay < firstCrashDelay {
		e.delay = 0
	}
}

// entry returns what is known of a container of that definition. The caller holds
// the lock.
func (b *crashBackOff) entry(key crashKey, identity string) *crash {
	e, ok := b.entries[key]
	if !ok || e.identity != identity {
		e = &crash{identity: identity}
		b.entries[key] = e
	}
	return e
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
