// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pleg

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/podtypes"
)

// cache holds the newest reading of each pod.
//
// A record is true not only at the time of its reading but also at that of the
// newest listing, unless that listing differed from it. So a pod that does not
// change needs no reading to be known as of now, and a pod without a record has
// nothing in the runtime.
type cache struct {
	mu      sync.Mutex
	records map[types.UID]*record
	// listed is when the newest listing began.
	listed time.Time
	// changed is closed and replaced at each change.
	changed chan struct{}
}

// record is what is known of one pod.
type record struct {
	// status is the last one that was read, or nil.
	status *podtypes.PodStatus
	// err is why the newest attempt to read failed, or nil.
	err error
	// began is when the newest attempt to read began.
	began time.Time
	// stale is when a listing showed something else than status; zero if none has
	// since status was read.
	stale time.Time
	// pod is the newest of what was listed and what was read.
	pod *podtypes.RuntimePod
}

func newCache() *cache {
	return &cache{records: map[types.UID]*record{}, changed: make(chan struct{})}
}

// newerThan returns what is known of a pod as of min or later, and whether anything
// is. If not, the channel is closed when that may have changed.
func (c *cache) newerThan(uid types.UID, min time.Time) (record, bool, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.records[uid]
	switch {
	case !ok:
		nothing := record{status: &podtypes.PodStatus{UID: uid, At: c.listed}}
		return nothing, asOf(c.listed, min), c.changed
	case asOf(r.began, min):
		return *r, true, nil
	}
	return *r, r.err == nil && r.stale.IsZero() && asOf(c.listed, min), c.changed
}

// asOf tells whether what was begun at that time, if ever, shows what was done before
// min.
func asOf(began, min time.Time) bool { return !began.IsZero() && !began.Before(min) }

// set notes a reading that began at that time and returns the status before it.
func (c *cache) set(uid types.UID, status *podtypes.PodStatus, began time.Time) (former *podtypes.PodStatus) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.record(uid)
	former = r.status
	r.status, r.err, r.pod = status, nil, listingOf(status)
	r.readAt(began)
	c.broadcast()
	return former
}

// fail notes an attempt to read that brought nothing.
func (c *cache) fail(uid types.UID, err error, began time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.record(uid)
	r.err = err
	r.readAt(began)
	c.broadcast()
}

// readAt makes up for a listing that came before.
func (r *record) readAt(began time.Time) {
	r.began = began
	if !began.Before(r.stale) {
		r.stale = time.Time{}
	}
}

// compare notes a listing that began at that time and returns the pods that
// must be read, for they are not as their records say.
func (c *cache) compare(pods []*podtypes.RuntimePod, began time.Time) []types.UID {
	c.mu.Lock()
	defer c.mu.Unlock()
	var read []types.UID
	listed := map[types.UID]bool{}
	for _, pod := range pods {
		listed[pod.UID] = true
		r := c.record(pod.UID)
		if !differs(pod, r) {
			r.stale = time.Time{}
			continue
		}
		r.stale, r.pod = time.Now(), pod
		read = append(read, pod.UID)
	}
	for uid, r := range c.records {
		switch {
		case listed[uid]:
		case differs(&podtypes.RuntimePod{}, r):
			r.stale, r.pod = time.Now(), nil
			read = append(read, uid)
		case r.began.Before(began):
			delete(c.records, uid)
		}
	}
	c.listed = began
	c.broadcast()
	return read
}

// pod returns the newest of what was listed and what was read of a pod, nil if there
// is nothing, and as of when; zero before the first listing. The channel is closed
// when that may have changed.
func (c *cache) pod(uid types.UID) (pod *podtypes.RuntimePod, at time.Time, changed <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at = c.listed
	if r, ok := c.records[uid]; ok {
		pod = r.pod
		if r.err == nil && r.began.After(at) {
			at = r.began
		}
	}
	return pod, at, c.changed
}

// pods returns every pod that has something in the runtime.
func (c *cache) pods() []*podtypes.RuntimePod {
	c.mu.Lock()
	defer c.mu.Unlock()
	var pods []*podtypes.RuntimePod
	for _, r := range c.records {
		if r.pod != nil && len(r.pod.Sandboxes)+len(r.pod.Containers) > 0 {
			pods = append(pods, r.pod)
		}
	}
	return pods
}

func (c *cache) record(uid types.UID) *record {
	r, ok := c.records[uid]
	if !ok {
		r = &record{}
		c.records[uid] = r
	}
	return r
}

func (c *cache) broadcast() {
	close(c.changed)
	c.changed = make(chan struct{})
}
