// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package eventrecorder

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// groupKey is what events have in common that differ in their message alone.
type groupKey struct {
	subject
	reason string
}

// group has the messages of such events.
type group struct {
	gists map[uint64]bool
	last  time.Time
}

// admit tells whether the message is told by itself.
func (g *group) admit(gist uint64, now time.Time) bool {
	if now.Sub(g.last) > alikeWithin {
		g.gists = map[uint64]bool{}
	}
	g.last = now
	if len(g.gists) < alike {
		g.gists[gist] = true
	}
	return g.gists[gist]
}

// combine lets the event stand for all that are alike, where those are many, and
// returns by what it is counted.
func (c *correlator) combine(event *corev1.Event, who subject, now time.Time) countKey {
	key := countKey{groupKey{who, event.Reason}, event.InvolvedObject.FieldPath, gist(event.Message)}
	if get(c.groups, key.groupKey, group{}).admit(key.gist, now) {
		return key
	}
	event.Message = clean("(combined from similar events): " + event.Message)
	return countKey{groupKey: key.groupKey}
}
