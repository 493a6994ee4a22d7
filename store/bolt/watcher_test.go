// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/berth-run/berth/store"
)

// TestProgress: an idle watcher is told of every advance once, and only then.
func TestProgress(t *testing.T) {
	path := t.TempDir() + "/store.db"
	synctest.Test(t, func(t *testing.T) {
		s, ctx := mustOpen(t, path, Options{ProgressInterval: time.Minute}), context.Background()
		defer s.Close()
		start := s.Head()
		mustCreate(t, s, "q", "")
		w, resumed := mustWatch(t, s, "p", 0), mustWatch(t, s, "p", start)
		wantNone := func(w store.Watcher) {
			t.Helper()
			short, cancel := context.WithTimeout(ctx, time.Hour)
			defer cancel()
			if events, err := w.Next(short); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("%+v, %v", events, err)
			}
		}
		wantMark := func(w store.Watcher, revision int64) {
			t.Helper()
			events := next(t, w)
			if len(events) != 1 || events[0].Type != store.Progress || events[0].Revision != revision {
				t.Fatalf("%+v", events)
			}
		}
		wantNone(w)
		wantMark(resumed, s.Head()) // it began below the head
		wantNone(resumed)
		revision := mustCreate(t, s, "q2", "")
		time.Sleep(2 * time.Minute)
		wantMark(w, revision)
		wantNone(w)
		mustCreate(t, s, "p", "")
		if events := next(t, w); events[0].Type != store.Created {
			t.Fatalf("%+v", events)
		}
		wantNone(w)
	})
}

// TestMarkComesAfterThePast: a mark that is made while a watcher's past is being
// rebuilt must not overtake it.
func TestMarkComesAfterThePast(t *testing.T) {
	w := newWatcher("", 10, 1<<20)
	w.mark(100)
	w.begin(90, []store.Event{{Type: store.Created, Key: "a", Revision: 95}})
	w.mark(100)
	for _, want := range []store.Event{
		{Type: store.Created, Key: "a", Revision: 95},
		{Type: store.Progress, Revision: 100},
	} {
		events, err := w.take()
		if err != nil || len(events) != 1 || events[0].Type != want.Type || events[0].Revision != want.Revision {
			t.Fatalf("%+v, %v, want %+v", events, err, want)
		}
	}
}

// TestSlowWatcherOfLargeValues: a reader that stands still must not keep the
// memory of all that is written, however few events it is.
func TestSlowWatcherOfLargeValues(t *testing.T) {
	w := newWatcher("", 10, 1000)
	large := []store.Event{{Type: store.Created, Key: "a", Revision: 1, Value: make([]byte, 2000)}}
	for range 3 { // read at once, they are none too many
		if !w.deliver(large) {
			t.Fatal("a reader that keeps up is dropped")
		}
		if _, err := w.take(); err != nil {
			t.Fatal(err)
		}
	}
	if !w.deliver(large) || w.deliver(large) {
		t.Error("want the watch to end with the second event that is not read")
	}
	if _, err := w.take(); !errors.Is(err, store.ErrSlowWatcher) {
		t.Errorf("%v", err)
	}
}

// TestEndedWatchersLeave: however a watch ends, the hub forgets it.
func TestEndedWatchersLeave(t *testing.T) {
	path := t.TempDir() + "/store.db"
	synctest.Test(t, func(t *testing.T) {
		s := mustOpen(t, path, Options{WatchBuffer: 1})
		defer s.Close()
		ctx, cancel := context.WithCancel(context.Background())
		if _, err := s.Watch(ctx, "x", 0); err != nil {
			t.Fatal(err)
		}
		mustWatch(t, s, "y", 0).Close()
		mustWatch(t, s, "slow", 0)
		if _, err := s.Watch(context.Background(), "", 1); !errors.Is(err, store.ErrCompacted) {
			t.Fatal(err)
		}
		cancel()
		mustCreate(t, s, "slow1", "")
		mustCreate(t, s, "slow2", "")
		synctest.Wait()
		s.hub.mu.Lock()
		defer s.hub.mu.Unlock()
		if n := len(s.hub.watchers); n != 0 {
			t.Errorf("%d watchers are left", n)
		}
	})
}
