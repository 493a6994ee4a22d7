// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"fmt"
	"sync"
	"testing"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/store"
)

func entryOf(t *testing.T, name, value string, revision int64) store.Entry {
	t.Helper()
	encoded, err := configMap("default", name, value).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return store.Entry{Key: name, Value: encoded, Revision: revision}
}

func TestMemoDecodesOnceForAll(t *testing.T) {
	m := newMemo(memoBytes)
	e := entryOf(t, "a", "1", 5)
	objects := make([]api.Object, 8)
	var readers sync.WaitGroup
	for i := range objects {
		readers.Go(func() { objects[i], _ = m.object(api.ConfigMaps, e) })
	}
	readers.Wait()
	for _, obj := range objects {
		if obj == nil || obj != objects[0] || obj.GetResourceVersion() != "5" {
			t.Errorf("got %v", obj)
		}
	}
}

func TestMemoBefore(t *testing.T) {
	m := newMemo(memoBytes)
	first, second := entryOf(t, "a", "1", 5), entryOf(t, "a", "2", 7)
	unknown, err := m.before(api.ConfigMaps, "a", first.Value, 7)
	if err != nil || unknown.GetResourceVersion() != "" {
		t.Errorf("not seen before: %v, %v", err, unknown)
	}
	want, _ := m.object(api.ConfigMaps, first)
	_, _ = m.object(api.ConfigMaps, second)
	if got, _ := m.before(api.ConfigMaps, "a", first.Value, 7); got != want {
		t.Errorf("got %v", got)
	}
	if _, err := m.before(api.ConfigMaps, "a", []byte{0xff}, 7); err == nil {
		t.Error("what is no object is decoded")
	}
}

func TestMemoIsBounded(t *testing.T) {
	m := newMemo(10_000)
	for i := range int64(10_000) {
		_, _ = m.object(api.ConfigMaps, entryOf(t, fmt.Sprint("k", i%1000), "1", i))
	}
	bytes := 0
	for _, generation := range []map[string]*memoEntry{m.young, m.old} {
		for _, e := range generation {
			for depth := 0; e != nil; e, depth = e.next, depth+1 {
				if bytes += len(e.value); depth >= memoDepth {
					t.Fatal("a key has too many revisions")
				}
			}
		}
	}
	if bytes > 2*10_000+200 {
		t.Errorf("%d bytes are kept", bytes)
	}
}

func TestMemoKeepsTheLastRevisionsOfABusyKey(t *testing.T) {
	m := newMemo(memoBytes)
	for i := range int64(100) {
		_, _ = m.object(api.ConfigMaps, entryOf(t, "busy", fmt.Sprint(i), i))
	}
	kept := 0
	for e := m.young["busy"]; e != nil; e = e.next {
		kept++
	}
	if kept != memoDepth {
		t.Errorf("%d revisions are kept", kept)
	}
	if want := memoDepth * len(entryOf(t, "busy", "99", 99).Value); m.size != want {
		t.Errorf("it reckons with %d bytes, want %d", m.size, want)
	}
}
