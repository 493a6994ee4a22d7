// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/berth-run/berth/store"
)

func testWatchFromNow(t *testing.T, e Engine) {
	s := open(t, e)
	create(t, s, "p/before", "")
	w := watch(t, s, "p/", 0)
	created := create(t, s, "p/a", "1")
	create(t, s, "q/a", "elsewhere")
	updated := update(t, s, "p/a", "2", created)
	deleted := remove(t, s, "p/a", updated)
	wantEqual(t, changes(t, w, 3), []store.Event{
		{Type: store.Created, Key: "p/a", Revision: created, Value: []byte("1")},
		{Type: store.Updated, Key: "p/a", Revision: updated, Value: []byte("2"), Prev: []byte("1")},
		{Type: store.Deleted, Key: "p/a", Revision: deleted, Prev: []byte("2")},
	})
}

// testWatchResumes watches from every revision of a history, and compares.
func testWatchResumes(t *testing.T, e Engine) {
	s := open(t, e)
	start := s.Head()
	live := watch(t, s, "", 0)
	for round := range 3 {
		for i := range 4 {
			key := fmt.Sprintf("k%d", i)
			revision := create(t, s, key, fmt.Sprint(round))
			if i%2 == 0 {
				revision = update(t, s, key, fmt.Sprint(round, "more"), revision)
			}
			if round < 2 || i == 3 {
				remove(t, s, key, revision)
			}
		}
	}
	history := changes(t, live, 27)
	wantEqual(t, changes(t, watch(t, s, "", start), len(history)), history)
	for i, event := range history {
		if rest := history[i+1:]; len(rest) > 0 {
			wantEqual(t, changes(t, watch(t, s, "", event.Revision), len(rest)), rest)
		}
	}
}

// testWatchFromList lists and watches from the list's revision, at every
// moment of a stream of writes, the first of all included.
func testWatchFromList(t *testing.T, e Engine) {
	s := open(t, e)
	for i := range 20 {
		page := list(t, s, "p/", store.ListOptions{})
		early := watch(t, s, "p/", page.Revision)
		key := fmt.Sprintf("p/%d", i)
		revision := create(t, s, key, "v")
		want := []store.Event{{Type: store.Created, Key: key, Revision: revision, Value: []byte("v")}}
		wantEqual(t, changes(t, early, 1), want)
		wantEqual(t, changes(t, watch(t, s, "p/", page.Revision), 1), want)
		wantEqual(t, len(page.Entries), i)
	}
}

// testWatchOrder has watchers join at any time while many write: each sees
// every change after its start, once and in order.
func testWatchOrder(t *testing.T, e Engine) {
	s, ctx := open(t, e), context.Background()
	all := watch(t, s, "", 0)
	const writers, each = 8, 40
	const total = writers * each
	var group sync.WaitGroup
	for i := range writers {
		group.Go(func() {
			key := fmt.Sprintf("k/%d", i)
			if _, err := s.Create(ctx, key, []byte("0")); err != nil {
				t.Error(err)
			}
			for n := 1; n < each; n++ {
				if _, err := s.Update(ctx, key, fmt.Append(nil, n), store.Any); err != nil {
					t.Error(err)
				}
			}
		})
	}
	type joined struct {
		w     store.Watcher
		after int64
	}
	var joins []joined
	for range 20 {
		page := list(t, s, "", store.ListOptions{})
		joins = append(joins, joined{watch(t, s, "", page.Revision), page.Revision})
	}
	group.Wait()

	history := changes(t, all, total)
	for i := 1; i < total; i++ {
		if history[i].Revision <= history[i-1].Revision {
			t.Fatalf("revision %d after %d", history[i].Revision, history[i-1].Revision)
		}
	}
	for _, join := range joins {
		rest := history
		for len(rest) > 0 && rest[0].Revision <= join.after {
			rest = rest[1:]
		}
		wantEqual(t, changes(t, join.w, len(rest)), append([]store.Event(nil), rest...))
	}
}

func testWatchUnknown(t *testing.T, e Engine) {
	s, ctx := open(t, e), context.Background()
	create(t, s, "a", "1")
	for _, revision := range []int64{-1, s.Head() + 1, s.Head() + 1<<30} {
		_, err := s.Watch(ctx, "", revision)
		wantErr(t, err, store.ErrCompacted)
	}
}

func testWatchCompacted(t *testing.T, e Engine) {
	s, ctx := open(t, e), context.Background()
	start := s.Head()
	old := create(t, s, "a", "1")
	running := watch(t, s, "", start)
	update(t, s, "a", "2", old)
	head := s.Head()
	e.Compact(t, s)

	_, err := s.Watch(ctx, "", start)
	wantErr(t, err, store.ErrCompacted)
	_, err = s.Watch(ctx, "", old)
	wantErr(t, err, store.ErrCompacted)

	w := watch(t, s, "", head)
	next := update(t, s, "a", "3", store.Any)
	want := store.Event{Type: store.Updated, Key: "a", Revision: next, Value: []byte("3"), Prev: []byte("2")}
	wantEqual(t, changes(t, w, 1), []store.Event{want})
	wantEqual(t, changes(t, watch(t, s, "", head), 1), []store.Event{want})
	wantEqual(t, changes(t, running, 3)[2], want)
}

func testWatchEnds(t *testing.T, e Engine) {
	s := open(t, e)
	ctx, cancel := context.WithCancel(context.Background())
	w, err := s.Watch(ctx, "", 0)
	wantErr(t, err, nil)
	defer w.Close()

	short, stop := context.WithTimeout(context.Background(), time.Millisecond)
	defer stop()
	_, err = w.Next(short)
	wantErr(t, err, context.DeadlineExceeded)

	create(t, s, "a", "") // the end of a Next is not the end of the watch
	changes(t, w, 1)
	cancel()
	_, err = w.Next(within(t))
	wantErr(t, err, context.Canceled)

	closed := watch(t, s, "", 0)
	closed.Close()
	closed.Close()
	_, err = closed.Next(within(t))
	wantErr(t, err, store.ErrClosed)
}

func testSlowWatcher(t *testing.T, e Engine) {
	s := open(t, e)
	start := s.Head()
	slow, elsewhere := watch(t, s, "k", 0), watch(t, s, "other", 0)
	create(t, s, "k", "")
	for range e.Lag {
		update(t, s, "k", "", store.Any)
	}
	var err error
	for err == nil {
		_, err = slow.Next(within(t))
	}
	wantErr(t, err, store.ErrSlowWatcher)

	// What is not the watcher's does not make it slow, nor does the past.
	create(t, s, "other", "")
	changes(t, elsewhere, 1)
	changes(t, watch(t, s, "k", start), e.Lag+1)
}

func testProgress(t *testing.T, e Engine) {
	s := open(t, e)
	w := watch(t, s, "p/", 0)
	revision := create(t, s, "q/a", "")
	batch, err := w.Next(within(t))
	wantErr(t, err, nil)
	wantEqual(t, batch, []store.Event{{Type: store.Progress, Revision: revision}})

	// The mark is a place to resume from, and the watch goes on.
	next := create(t, s, "p/a", "")
	wantEqual(t, changes(t, watch(t, s, "p/", revision), 1)[0].Revision, next)
	wantEqual(t, changes(t, w, 1)[0].Revision, next)
}
