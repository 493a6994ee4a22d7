// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"context"
	"testing"

	"github.com/berth-run/berth/store"
)

func testRestart(t *testing.T, e Engine) {
	s, ctx := e.Open(t), context.Background()
	id, opened := s.ID(), s.Head()
	a := create(t, s, "a", "1")
	b := create(t, s, "b", "1")
	b = update(t, s, "b", "2", b)
	wantErr(t, s.Close(), nil)

	s = open(t, e)
	wantEqual(t, s.ID(), id)
	page := list(t, s, "", store.ListOptions{})
	wantEqual(t, page.Entries, []store.Entry{entry("a", "1", a), entry("b", "2", b)})
	if s.Head() < b {
		t.Fatalf("head %d is below %d", s.Head(), b)
	}
	// A list right after the start, and one from before it, can be followed.
	fresh := watch(t, s, "", page.Revision)
	resumed := watch(t, s, "", b)
	c := create(t, s, "c", "1")
	if c <= page.Revision {
		t.Fatalf("revision %d after head %d", c, page.Revision)
	}
	want := []store.Event{{Type: store.Created, Key: "c", Revision: c, Value: []byte("1")}}
	wantEqual(t, changes(t, fresh, 1), want)
	wantEqual(t, changes(t, resumed, 1), want)
	// The past is still there.
	events := changes(t, watch(t, s, "", opened), 4)
	wantEqual(t, string(events[1].Value), "1")
	wantEqual(t, string(events[2].Prev), "1")
	wantEqual(t, list(t, s, "", store.ListOptions{Revision: a}).Entries, []store.Entry{entry("a", "1", a)})
	_, err := s.Update(ctx, "b", nil, a)
	wantErr(t, err, store.ErrConflict)
}

// testRestoredCopy makes a copy of the data and lets original and copy go on:
// what only the one has seen must not be taken for the other's.
func testRestoredCopy(t *testing.T, e Engine) {
	if e.Copy == nil {
		t.Skip("this engine's data cannot be copied")
	}
	s, ctx := e.Open(t), context.Background()
	shared := create(t, s, "a", "shared")
	id := s.ID()
	wantErr(t, s.Close(), nil)
	copied := e.Copy(t)

	original := open(t, e)
	lost := []int64{original.Head()}
	for range 10 {
		lost = append(lost, update(t, original, "a", "original", store.Any))
	}

	restored := open(t, copied)
	wantEqual(t, restored.ID(), id)
	for range 10 {
		update(t, restored, "a", "restored", store.Any)
	}
	for _, revision := range lost {
		_, err := restored.Watch(ctx, "", revision)
		wantErr(t, err, store.ErrCompacted)
		_, err = restored.List(ctx, "", store.ListOptions{Revision: revision})
		wantErr(t, err, store.ErrCompacted)
		_, err = restored.Update(ctx, "a", nil, revision)
		wantErr(t, err, store.ErrConflict)
	}
	events := changes(t, watch(t, restored, "", shared), 10)
	wantEqual(t, string(events[0].Prev), "shared")
}

func testClose(t *testing.T, e Engine) {
	s, ctx := e.Open(t), context.Background()
	w := watch(t, s, "", 0)
	kept := create(t, s, "a", "1")
	changes(t, w, 1)

	outcome := make(chan error)
	go func() {
		var err error
		for err == nil {
			_, err = s.Update(ctx, "a", []byte("2"), store.Any)
		}
		outcome <- err
	}()
	wantErr(t, s.Close(), nil)
	wantErr(t, <-outcome, store.ErrClosed)
	wantErr(t, s.Close(), nil)

	var err error
	for err == nil {
		_, err = w.Next(within(t))
	}
	wantErr(t, err, store.ErrClosed)
	_, err = s.Get(ctx, "a")
	wantErr(t, err, store.ErrClosed)
	_, err = s.List(ctx, "", store.ListOptions{})
	wantErr(t, err, store.ErrClosed)
	_, err = s.Create(ctx, "b", nil)
	wantErr(t, err, store.ErrClosed)
	_, err = s.Watch(ctx, "", kept)
	wantErr(t, err, store.ErrClosed)
}
