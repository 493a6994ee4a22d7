// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-run/berth/store"
)

func create(t testing.TB, s store.Store, key, value string) int64 {
	t.Helper()
	revision, err := s.Create(context.Background(), key, []byte(value))
	if err != nil {
		t.Fatalf("create %q: %v", key, err)
	}
	return revision
}

func update(t testing.TB, s store.Store, key, value string, expected int64) int64 {
	t.Helper()
	revision, err := s.Update(context.Background(), key, []byte(value), expected)
	if err != nil {
		t.Fatalf("update %q: %v", key, err)
	}
	return revision
}

func remove(t testing.TB, s store.Store, key string, expected int64) int64 {
	t.Helper()
	_, revision, err := s.Delete(context.Background(), key, expected)
	if err != nil {
		t.Fatalf("delete %q: %v", key, err)
	}
	return revision
}

func list(t testing.TB, s store.Store, prefix string, opts store.ListOptions) store.Page {
	t.Helper()
	page, err := s.List(context.Background(), prefix, opts)
	if err != nil {
		t.Fatalf("list %q %+v: %v", prefix, opts, err)
	}
	return page
}

func watch(t testing.TB, s store.Store, prefix string, from int64) store.Watcher {
	t.Helper()
	w, err := s.Watch(context.Background(), prefix, from)
	if err != nil {
		t.Fatalf("watch %q from %d: %v", prefix, from, err)
	}
	t.Cleanup(w.Close)
	return w
}

// changes reads n events of w, leaving progress marks out.
func changes(t testing.TB, w store.Watcher, n int) []store.Event {
	t.Helper()
	ctx := within(t)
	var events []store.Event
	for len(events) < n {
		batch, err := w.Next(ctx)
		if err != nil {
			t.Fatalf("after %d of %d events: %v", len(events), n, err)
		}
		if len(batch) == 0 {
			t.Fatal("empty batch of events")
		}
		for _, event := range batch {
			if event.Type != store.Progress {
				events = append(events, event)
			}
		}
	}
	if len(events) > n {
		t.Fatalf("%d events, want %d: %+v", len(events), n, events)
	}
	return events
}

func wantErr(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
}

func wantEqual(t testing.TB, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("got (+), want (-):\n%s", diff)
	}
}

func entry(key, value string, revision int64) store.Entry {
	return store.Entry{Key: key, Value: []byte(value), Revision: revision}
}
