// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package events

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/api"
)

// policy says which events are to go.
type policy struct {
	ttl time.Duration
	max int
}

// take takes out of the ledger up to n events that are to go at that time: those that
// have been left alone for the TTL and then, while there are more than max, the
// oldest. Of these a sixteenth more goes at once, so that each removal is for many.
func (p policy) take(l *ledger, now time.Time, n int) (expired, surplus []*entry) {
	if p.ttl > 0 {
		expired = l.takeOldest(n, func(e *entry) bool { return now.Sub(e.last) >= p.ttl })
	}
	if p.tooMany(l) {
		excess := l.len() - (p.max - p.max/16)
		surplus = l.takeOldest(min(excess, n-len(expired)), func(*entry) bool { return true })
	}
	return expired, surplus
}

func (p policy) tooMany(l *ledger) bool { return l.len() > p.max }

// every is how often to look for what has expired.
func (p policy) every() time.Duration {
	if p.ttl == 0 {
		return time.Minute
	}
	return min(max(p.ttl/60, time.Second), time.Minute)
}

// lastWritten is when an event that was stored before this server started is taken to
// have been written last: when it says that it happened or, if that is later, when
// it was created. What comes from the future, by a clock that was set back or that is
// another's, was written now: so it goes in its turn as any other.
func lastWritten(e *corev1.Event, now time.Time) time.Time {
	last := api.EventLastSeen(e).Time
	if created := e.CreationTimestamp.Time; created.After(last) {
		last = created
	}
	// The time is reckoned from now, which keeps it apart from the wall clock.
	return now.Add(-max(0, now.Sub(last)))
}
