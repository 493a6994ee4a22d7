// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"bytes"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/store"
)

// memoBytes is how many bytes of encodings one generation of the memo covers.
const memoBytes = 4 << 20

// memo shares decoded objects: whoever asks for the same revision of a key gets
// the same object, decoded once. It forgets by generations: when the younger one
// is full it becomes the older, and the older goes.
type memo struct {
	mu           sync.Mutex
	young, old   map[string]*memoEntry
	size, budget int
}

// memoEntry is one revision of a key; next leads to older ones.
type memoEntry struct {
	value    []byte
	revision int64
	next     *memoEntry

	decode sync.Once
	obj    api.Object
	err    error
}

// memoDepth is how many revisions of one key are kept for slow readers.
const memoDepth = 4

func newMemo(budget int) *memo {
	return &memo{young: map[string]*memoEntry{}, old: map[string]*memoEntry{}, budget: budget}
}

// put remembers the object that was written as an entry. The object is shared
// from then on.
func (m *memo) put(e store.Entry, obj api.Object) {
	entry := m.entry(e)
	entry.decode.Do(func() { entry.obj = obj })
}

// object returns the decoded object of an entry.
func (m *memo) object(k *api.Kind, e store.Entry) (api.Object, error) {
	entry := m.entry(e)
	entry.decode.Do(func() { entry.obj, entry.err = decodeEntry(k, e) })
	return entry.obj, entry.err
}

// before returns the object that a change at revision replaced, whose encoding
// is value. If nobody asked for it lately it has no resourceVersion: an event
// does not say it.
func (m *memo) before(k *api.Kind, key string, value []byte, revision int64) (api.Object, error) {
	m.mu.Lock()
	entry := m.find(key, func(e *memoEntry) bool { return e.revision < revision && bytes.Equal(e.value, value) })
	m.mu.Unlock()
	if entry != nil {
		return m.object(k, store.Entry{Key: key, Value: value, Revision: entry.revision})
	}
	obj, err := decodeEntry(k, store.Entry{Key: key, Value: value})
	if err == nil {
		obj.SetResourceVersion("")
	}
	return obj, err
}

func decodeEntry(k *api.Kind, e store.Entry) (api.Object, error) {
	obj := k.New()
	if err := obj.Unmarshal(e.Value); err != nil {
		return nil, err
	}
	obj.SetResourceVersion(formatRevision(e.Revision))
	settle(obj)
	return obj, nil
}

// settle makes an object safe to share: a quantity keeps its text when it
// is first asked for it, which must not happen under two readers. Quantities in
// maps are copied before they are asked.
func settle(obj api.Object) {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return
	}
	for i := range pod.Spec.Volumes {
		if d := pod.Spec.Volumes[i].EmptyDir; d != nil {
			_ = d.SizeLimit.String()
		}
	}
}

// entry finds or adds the place of an entry's object.
func (m *memo) entry(e store.Entry) *memoEntry {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found := m.find(e.Key, func(have *memoEntry) bool { return have.revision == e.Revision }); found != nil {
		return found
	}
	if m.size > m.budget {
		m.old, m.young, m.size = m.young, map[string]*memoEntry{}, 0
	}
	added := &memoEntry{value: e.Value, revision: e.Revision, next: m.young[e.Key]}
	m.young[e.Key] = added
	m.size += len(e.Value) - added.trim(memoDepth)
	return added
}

// trim forgets all but the first depth entries, and returns how many bytes of
// encodings went.
func (e *memoEntry) trim(depth int) (forgotten int) {
	for range depth - 1 {
		if e = e.next; e == nil {
			return 0
		}
	}
	for gone := e.next; gone != nil; gone = gone.next {
		forgotten += len(gone.value)
	}
	e.next = nil
	return forgotten
}

// find is called with the lock held.
func (m *memo) find(key string, match func(*memoEntry) bool) *memoEntry {
	for _, generation := range []map[string]*memoEntry{m.young, m.old} {
		for e := generation[key]; e != nil; e = e.next {
			if match(e) {
				return e
			}
		}
	}
	return nil
}
