// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package tokens

import "time"

// token is one as the server gave it.
type token struct {
	text           string
	since, expires time.Time
}

// maxAge is when a new one is asked for, however long the token lives.
const maxAge = 24 * time.Hour

// due tells that it is time for a new one: after four fifths of the token's life, or
// a day.
func (t token) due(now time.Time) bool {
	life := t.expires.Sub(t.since)
	return now.Sub(t.since) >= min(maxAge, life/5*4)
}

func (t token) good(now time.Time) bool { return now.Before(t.expires) }
