// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package eventrecorder

import (
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// remembered is of how many of a kind each step knows: of those that were heard of
// last. What is forgotten begins anew, at the worst as one more event.
const remembered = 1024

// correlator decides what becomes of each event. Its users hold a lock.
type correlator struct {
	groups  *simplelru.LRU[groupKey, *group]
	counts  *simplelru.LRU[countKey, occurrence]
	budgets *simplelru.LRU[subject, *budget]
}

// subject is whom events are about, and who tells them.
type subject struct {
	source                           corev1.EventSource
	kind, namespace, name, eventType string
	uid                              types.UID
}

func newCorrelator(size int) *correlator {
	return &correlator{
		groups:  newLRU[groupKey, *group](size),
		counts:  newLRU[countKey, occurrence](size),
		budgets: newLRU[subject, *budget](size),
	}
}

func newLRU[K comparable, V any](size int) *simplelru.LRU[K, V] {
	cache, _ := simplelru.NewLRU[K, V](size, nil) // it refuses a size of 0 alone
	return cache
}

// correlate makes of a new event what is to be stored: the event itself, the
// repetition of one, or one for many that are alike. It returns false if nobody is
// to be told of it now; it has counted nevertheless, which the next one that is
// told shows.
func (c *correlator) correlate(event *corev1.Event) bool {
	who, now := subjectOf(event), event.LastTimestamp.Time
	key := c.combine(event, who, now)
	c.count(event, key)
	return c.spend(who, now)
}

func subjectOf(e *corev1.Event) subject {
	o := &e.InvolvedObject
	return subject{e.Source, o.Kind, o.Namespace, o.Name, e.Type, o.UID}
}

// get returns what is remembered of a key, or else what is new from then on.
func get[K comparable, V any](cache *simplelru.LRU[K, *V], key K, fresh V) *V {
	if known, ok := cache.Get(key); ok {
		return known
	}
	cache.Add(key, &fresh)
	return &fresh
}

// Kubernetes' figures, which its users know.
const (
	// alike is how many events that differ in their message alone are told one by
	// one while no more than alikeWithin lies between them.
	alike       = 9
	alikeWithin = 10 * time.Minute
	// burst is how many events of a subject are told at once, and refill how long
	// it takes for one more.
	burst  = 25
	refill = 5 * time.Minute
)
