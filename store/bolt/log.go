// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"sync"
	"time"
)

// logUsage counts what the event log holds and calls for compaction when that
// is too much.
type logUsage struct {
	now       func() time.Time
	maxEvents int
	maxBytes  int64
	// full holds a token when the log has outgrown a limit by a sixteenth: so
	// much goes at once that a compaction's commit is shared by many writes.
	full chan struct{}

	mu     sync.Mutex
	events int
	bytes  int64
	// grown is set until the log was next looked at.
	grown bool
}

func newLogUsage(opts Options, events int, bytes int64) *logUsage {
	return &logUsage{
		now:       opts.Now,
		maxEvents: opts.LogEvents,
		maxBytes:  opts.LogBytes,
		full:      make(chan struct{}, 1),
		events:    events,
		bytes:     bytes,
		grown:     true,
	}
}

// seconds is the time in the log's unit.
func (u *logUsage) seconds() int64 { return u.now().Unix() }

func (u *logUsage) grow(events int, bytes int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.events += events
	u.bytes += bytes
	u.grown = true
	if u.events-u.events/16 <= u.maxEvents && u.bytes-u.bytes/16 <= u.maxBytes {
		return
	}
	select {
	case u.full <- struct{}{}:
	default:
	}
}

func (u *logUsage) shrink(events int, bytes int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.events -= events
	u.bytes -= bytes
}

// look reports whether the log has grown since the last look.
func (u *logUsage) look() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	grown := u.grown
	u.grown = false
	return grown
}

// lookAgain makes the next look find the log grown.
func (u *logUsage) lookAgain() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.grown = true
}

// held is how many events the log holds.
func (u *logUsage) held() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.events
}

// surplus is by how much the log is over its limits.
func (u *logUsage) surplus() (events int, bytes int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.events - u.maxEvents, u.bytes - u.maxBytes
}
