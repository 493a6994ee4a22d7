// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podworkers

import (
	"container/heap"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// workQueue holds when each pod is to be synced next: one time per pod. It is
// not safe for concurrent use.
type workQueue struct {
	entries entries
	byUID   map[types.UID]*entry
}

type entry struct {
	uid   types.UID
	at    time.Time
	index int
}

func newWorkQueue() *workQueue { return &workQueue{byUID: map[types.UID]*entry{}} }

// set replaces the time of a pod.
func (q *workQueue) set(uid types.UID, at time.Time) {
	e, ok := q.byUID[uid]
	if !ok {
		e = &entry{uid: uid, at: at}
		q.byUID[uid] = e
		heap.Push(&q.entries, e)
		return
	}
	e.at = at
	heap.Fix(&q.entries, e.index)
}

// sooner moves the time of a pod to at, if that is sooner.
func (q *workQueue) sooner(uid types.UID, at time.Time) {
	if e, ok := q.byUID[uid]; !ok || at.Before(e.at) {
		q.set(uid, at)
	}
}

func (q *workQueue) forget(uid types.UID) {
	if e, ok := q.byUID[uid]; ok {
		heap.Remove(&q.entries, e.index)
		delete(q.byUID, uid)
	}
}

// next returns when the first pod is due.
func (q *workQueue) next() (time.Time, bool) {
	if len(q.entries) == 0 {
		return time.Time{}, false
	}
	return q.entries[0].at, true
}

// due takes out the pods whose time has come, in the order of their times.
func (q *workQueue) due(now time.Time) []types.UID {
	var uids []types.UID
	for len(q.entries) > 0 && !q.entries[0].at.After(now) {
		e := heap.Pop(&q.entries).(*entry)
		delete(q.byUID, e.uid)
		uids = append(uids, e.uid)
	}
	return uids
}

// entries is a heap of entries by time that keeps each entry's index.
type entries []*entry

func (h entries) Len() int           { return len(h) }
func (h entries) Less(i, j int) bool { return h[i].at.Before(h[j].at) }

func (h entries) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *entries) Push(x any) {
	e := x.(*entry)
	e.index = len(*h)
	*h = append(*h, e)
}

func (h *entries) Pop() any {
	old := *h
	e := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return e
}
