// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package eventrecorder

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// countKey is what makes two events the same.
type countKey struct {
	groupKey
	fieldPath string
	gist      uint64
}

// occurrence is what a repetition takes over.
type occurrence struct {
	name  string
	first metav1.Time
	count int32
}

// count makes event a repetition of the same one, if that is remembered: it takes
// that one's name and first time, and counts on.
func (c *correlator) count(event *corev1.Event, key countKey) {
	if former, ok := c.counts.Get(key); ok {
		event.Name, event.FirstTimestamp, event.Count = former.name, former.first, former.count+1
	}
	c.counts.Add(key, occurrence{event.Name, event.FirstTimestamp, event.Count})
}
