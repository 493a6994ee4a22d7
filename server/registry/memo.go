// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"bytes"
	"sync"

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
	if entry := m.find(key, func(e *memoEntry) bool {
		return e.revision < revision && bytes.Equal(e.value, value)
	}); entry != nil {
		return m.object(k, store.Entry{Key: key, Value: value, Revision: entry.revision})
	}
	obj := k.New()
	return obj, obj.Unmarshal(value)
}

func decodeEntry(k *api.Kind, e store.Entry) (api.Object, error) {
	obj := k.New()
	if err := obj.Unmarshal(e.Value); err != nil {
		return nil, err
	}
	obj.SetResourceVersion(formatRevision(e.Revision))
	return obj, nil
}

// entry finds or adds the place of an entry's object.
func (m *memo) entry(e store.Entry) *memoEntry {
	if found := m.find(e.Key, func(have *memoEntry) bool { return have.revision == e.Revision }); found != nil {
		return found
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.size > m.budget {
		m.old, m.young, m.size = m.young, map[string]*memoEntry{}, 0
	}
	added := &memoEntry{value: e.Value, revision: e.Revision, next: m.young[e.Key]}
	m.young[e.Key] = added
	m.size += len(e.Value)
	return added
}

func (m *memo) find(key string, match func(*memoEntry) bool) *memoEntry {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, generation := range []map[string]*memoEntry{m.young, m.old} {
		for e := generation[key]; e != nil; e = e.next {
			if match(e) {
				return e
			}
		}
	}
	return nil
}
