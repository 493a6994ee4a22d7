// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package events

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// recent remembers the events of the last while, to tell the repeated from the
// new. It never holds more than limit.
type recent struct {
	window time.Duration
	limit  int
	seen   map[key]occurrence
}

// occurrence is what a repetition takes over.
type occurrence struct {
	name        string
	first, last metav1.Time
	count       int32
}

// key is what makes two events the same.
type key struct {
	uid                                   types.UID
	fieldPath, eventType, reason, message string
}

func newRecent(window time.Duration, limit int) *recent {
	return &recent{window: window, limit: limit, seen: map[key]occurrence{}}
}

// count makes event a repetition of the same one in the window, if there is one:
// it takes that one's name and first time, and counts on.
func (r *recent) count(event *corev1.Event) {
	k := keyOf(event)
	if former, ok := r.seen[k]; ok && r.covers(former, event) {
		event.Name, event.FirstTimestamp, event.Count = former.name, former.first, former.count+1
	} else if !ok {
		r.makeRoom(event)
	}
	r.seen[k] = occurrence{event.Name, event.FirstTimestamp, event.LastTimestamp, event.Count}
}

func (r *recent) covers(former occurrence, event *corev1.Event) bool {
	return event.LastTimestamp.Sub(former.last.Time) <= r.window
}

// makeRoom forgets what is out of the window, and everything if that is not
// enough: the worst that follows is a second event of the same text.
func (r *recent) makeRoom(event *corev1.Event) {
	if len(r.seen) < r.limit {
		return
	}
	for k, former := range r.seen {
		if !r.covers(former, event) {
			delete(r.seen, k)
		}
	}
	if len(r.seen) >= r.limit {
		clear(r.seen)
	}
}

func keyOf(e *corev1.Event) key {
	return key{e.InvolvedObject.UID, e.InvolvedObject.FieldPath, e.Type, e.Reason, e.Message}
}
