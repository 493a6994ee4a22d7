// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package syncloop

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// stuckAfter is how old the loop's stamp may be. An idle loop renews it with each
// housekeeping, one that waits for the runtime with each try.
const stuckAfter = time.Minute

// stamp is a time that one goroutine sets and others read.
type stamp struct{ at atomic.Pointer[time.Time] }

func (s *stamp) set(t time.Time) { s.at.Store(&t) }

func (s *stamp) get() time.Time {
	if t := s.at.Load(); t != nil {
		return *t
	}
	return time.Time{}
}

// LastLoop returns when the loop last came round; zero before Run.
func (l *Loop) LastLoop() time.Time { return l.lastLoop.get() }

// Healthy returns nil while the loop comes round, and otherwise since when it does
// not.
func (l *Loop) Healthy() error {
	last := l.LastLoop()
	if last.IsZero() {
		return errors.New("sync loop has not started")
	}
	if age := time.Since(last); age > stuckAfter {
		return fmt.Errorf("sync loop is stuck for %s", age.Round(time.Second))
	}
	return nil
}
