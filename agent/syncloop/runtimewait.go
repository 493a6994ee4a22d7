// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package syncloop

import (
	"log/slog"
	"time"
)

// While the runtime has errors the loop waits, first so long, then twice as long
// each time, up to the longest.
const (
	firstSkip   = 100 * time.Millisecond
	longestSkip = 5 * time.Second
)

// startGrace is how long after the agent's start nothing is wrong with a runtime that
// has not answered yet.
const startGrace = 10 * time.Second

// runtimeWait is how the loop waits for a runtime that cannot be used.
type runtimeWait struct {
	began  time.Time
	worked bool
	skip   time.Duration
}

func newRuntimeWait(now time.Time) *runtimeWait { return &runtimeWait{began: now, skip: firstSkip} }

// over notes that the runtime can be used.
func (w *runtimeWait) over() { w.worked, w.skip = true, firstSkip }

// next returns how long to wait now, and how much of a matter it is.
func (w *runtimeWait) next(now time.Time) (time.Duration, slog.Level) {
	skip := w.skip
	w.skip = min(2*w.skip, longestSkip)
	if !w.worked && now.Sub(w.began) < startGrace {
		return skip, slog.LevelDebug
	}
	return skip, slog.LevelWarn
}
