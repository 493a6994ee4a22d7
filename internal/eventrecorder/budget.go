// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package eventrecorder

import "time"

// budget is how many events of a subject may be told: a bucket of tokens. Fresh, it
// is full.
type budget struct {
	spent  float64
	filled time.Time
}

// take takes one token, if there is one.
func (b *budget) take(now time.Time) bool {
	b.spent = max(0, b.spent-now.Sub(b.filled).Seconds()/refill.Seconds())
	b.filled = now
	if b.spent+1 > burst {
		return false
	}
	b.spent++
	return true
}

func (c *correlator) spend(who subject, now time.Time) bool {
	return get(c.budgets, who, budget{}).take(now)
}
