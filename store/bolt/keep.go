// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"sync"
	"time"
)

// maxKept bounds the number of kept snapshots: each holds on to all that was
// replaced or deleted since.
const maxKept = 64

// keptSnapshots remembers the snapshots that lists are paging through, so that
// the pages to come need not be rebuilt from the log.
type keptSnapshots struct {
	keep time.Duration
	mu   sync.Mutex
	all  map[keptKey]kept
}

// keptKey names a snapshot. One that was rebuilt is right only under its
// prefix.
type keptKey struct {
	prefix   string
	revision int64
}

type kept struct {
	snapshot *snapshot
	until    time.Time
}

func (k *keptSnapshots) get(prefix string, revision int64) (*snapshot, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	found, ok := k.all[keptKey{prefix, revision}]
	return found.snapshot, ok
}

// put keeps s from now on for as long as configured, in place of the one that
// would have ended first if there are too many.
func (k *keptSnapshots) put(prefix string, s *snapshot, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all == nil {
		k.all = map[keptKey]kept{}
	}
	k.all[keptKey{prefix, s.revision}] = kept{snapshot: s, until: now.Add(k.keep)}
	if len(k.all) <= maxKept {
		return
	}
	var first keptKey
	var until time.Time
	for key, s := range k.all {
		if until.IsZero() || s.until.Before(until) {
			first, until = key, s.until
		}
	}
	delete(k.all, first)
}

// expire forgets what has been kept for long enough.
func (k *keptSnapshots) expire(now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for key, s := range k.all {
		if !now.Before(s.until) {
			delete(k.all, key)
		}
	}
}
