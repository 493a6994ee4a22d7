// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-run/berth/store"
)

// testModel runs random operations on a store and on a plain map, and compares
// every answer.
func testModel(t *testing.T, newEngine func(testing.TB) Engine) {
	rapid.Check(t, func(r *rapid.T) {
		m := &model{t: t, engine: newEngine(t), entries: map[string]store.Entry{}}
		m.store = m.engine.Open(t)
		defer func() { m.store.Close() }()
		m.note()
		r.Repeat(map[string]func(*rapid.T){
			"create":  m.create,
			"update":  m.update,
			"delete":  m.delete,
			"get":     m.get,
			"list":    m.list,
			"watch":   m.watch,
			"compact": m.compact,
			"restart": m.restart,
		})
	})
}

type model struct {
	t       *testing.T
	engine  Engine
	store   store.Store
	entries map[string]store.Entry
	// history are all changes; those up to floor may be gone.
	history []store.Event
	floor   int64
	// states are what a list at a revision must return.
	states []state
}

type state struct {
	revision int64
	entries  map[string]store.Entry
}

func (m *model) note() {
	m.states = append(m.states, state{m.store.Head(), maps.Clone(m.entries)})
}

func drawKey(r *rapid.T) string {
	return rapid.SampledFrom([]string{"a", "a/x", "a/y", "ab", "b/x", "b/x/z"}).Draw(r, "key")
}

func drawPrefix(r *rapid.T) string {
	return rapid.SampledFrom([]string{"", "a", "a/", "b/x", "c"}).Draw(r, "prefix")
}

func drawValue(r *rapid.T) []byte {
	return rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(r, "value")
}

// drawExpected returns any, the right, or some other revision.
func (m *model) drawExpected(r *rapid.T, key string) int64 {
	return rapid.SampledFrom([]int64{store.Any, m.entries[key].Revision, m.floor, m.store.Head()}).Draw(r, "expected")
}

// refusal is the error that a write on key has to get.
func (m *model) refusal(key string, expected int64) error {
	current, exists := m.entries[key]
	switch {
	case !exists:
		return store.ErrNotFound
	case expected != store.Any && expected != current.Revision:
		return store.ErrConflict
	}
	return nil
}

func (m *model) apply(r *rapid.T, event store.Event) {
	if previous := m.states[len(m.states)-1].revision; event.Revision <= previous || event.Revision != m.store.Head() {
		r.Fatalf("revision %d after %d, head %d", event.Revision, previous, m.store.Head())
	}
	event.Prev = m.entries[event.Key].Value
	if event.Type == store.Deleted {
		delete(m.entries, event.Key)
	} else {
		m.entries[event.Key] = store.Entry{Key: event.Key, Value: event.Value, Revision: event.Revision}
	}
	m.history = append(m.history, event)
	m.note()
}

func (m *model) create(r *rapid.T) {
	key, value := drawKey(r), drawValue(r)
	revision, err := m.store.Create(context.Background(), key, value)
	if _, exists := m.entries[key]; exists {
		wantIs(r, err, store.ErrExists)
		return
	}
	wantIs(r, err, nil)
	m.apply(r, store.Event{Type: store.Created, Key: key, Revision: revision, Value: value})
}

func (m *model) update(r *rapid.T) {
	key, value := drawKey(r), drawValue(r)
	expected := m.drawExpected(r, key)
	revision, err := m.store.Update(context.Background(), key, value, expected)
	refusal := m.refusal(key, expected)
	wantIs(r, err, refusal)
	if refusal == nil {
		m.apply(r, store.Event{Type: store.Updated, Key: key, Revision: revision, Value: value})
	}
}

func (m *model) delete(r *rapid.T) {
	key := drawKey(r)
	expected := m.drawExpected(r, key)
	removed, revision, err := m.store.Delete(context.Background(), key, expected)
	refusal := m.refusal(key, expected)
	wantIs(r, err, refusal)
	if refusal == nil {
		wantSame(r, []store.Entry{removed}, []store.Entry{m.entries[key]}, sameEntry)
		m.apply(r, store.Event{Type: store.Deleted, Key: key, Revision: revision})
	}
}

func (m *model) get(r *rapid.T) {
	key := drawKey(r)
	got, err := m.store.Get(context.Background(), key)
	want, exists := m.entries[key]
	if !exists {
		wantIs(r, err, store.ErrNotFound)
		return
	}
	wantIs(r, err, nil)
	wantSame(r, []store.Entry{got}, []store.Entry{want}, sameEntry)
}

// list lists some state there has been, in pages of a random size.
func (m *model) list(r *rapid.T) {
	prefix, limit := drawPrefix(r), rapid.IntRange(0, 3).Draw(r, "limit")
	s := rapid.SampledFrom(m.states).Draw(r, "state")
	if s.revision < m.floor {
		return
	}
	var want []store.Entry
	for _, key := range slices.Sorted(maps.Keys(s.entries)) {
		if strings.HasPrefix(key, prefix) {
			want = append(want, s.entries[key])
		}
	}
	var got []store.Entry
	for opts := (store.ListOptions{Revision: s.revision, Limit: limit}); ; {
		page, err := m.store.List(context.Background(), prefix, opts)
		wantIs(r, err, nil)
		got = append(got, page.Entries...)
		if page.Revision != s.revision || page.Remaining != len(want)-len(got) {
			r.Fatalf("page at %d with %d remaining, want %d with %d", page.Revision, page.Remaining, s.revision, len(want)-len(got))
		}
		if page.Remaining == 0 {
			break
		}
		opts.After = got[len(got)-1].Key
	}
	wantSame(r, got, want, sameEntry)
}

// watch resumes from some state there has been.
func (m *model) watch(r *rapid.T) {
	prefix := drawPrefix(r)
	from := rapid.SampledFrom(m.states).Draw(r, "state").revision
	var want []store.Event
	for _, event := range m.history {
		if event.Revision > from && strings.HasPrefix(event.Key, prefix) {
			want = append(want, event)
		}
	}
	w, err := m.store.Watch(context.Background(), prefix, from)
	if from < m.floor {
		wantIs(r, err, store.ErrCompacted)
		return
	}
	wantIs(r, err, nil)
	defer w.Close()
	wantSame(r, changes(m.t, w, len(want)), want, sameEvent)
}

func (m *model) compact(*rapid.T) {
	m.engine.Compact(m.t, m.store)
	if len(m.history) > 0 {
		m.floor = m.history[len(m.history)-1].Revision
	}
}

func (m *model) restart(r *rapid.T) {
	id := m.store.ID()
	wantIs(r, m.store.Close(), nil)
	m.store = m.engine.Open(m.t)
	if m.store.ID() != id {
		r.Fatalf("ID %q became %q", id, m.store.ID())
	}
	m.note()
}

func wantIs(r *rapid.T, err, want error) {
	if !errors.Is(err, want) {
		r.Fatalf("error %v, want %v", err, want)
	}
}

func wantSame[T any](r *rapid.T, got, want []T, same func(a, b T) bool) {
	if !slices.EqualFunc(got, want, same) {
		r.Fatalf("got %+v, want %+v", got, want)
	}
}

func sameEntry(a, b store.Entry) bool {
	return a.Key == b.Key && a.Revision == b.Revision && string(a.Value) == string(b.Value)
}

func sameEvent(a, b store.Event) bool {
	return a.Type == b.Type && a.Key == b.Key && a.Revision == b.Revision &&
		string(a.Value) == string(b.Value) && string(a.Prev) == string(b.Prev)
}
