// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"context"
	"fmt"
	"testing"

	"github.com/berth-run/berth/store"
)

func testListOrder(t *testing.T, e Engine) {
	s := open(t, e)
	empty := list(t, s, "p/", store.ListOptions{})
	wantEqual(t, len(empty.Entries), 0)

	revisions := map[string]int64{}
	for _, key := range []string{"p/b", "q", "p/a", "p/", "p", "p/a/x", "p0", "p/\xff"} {
		revisions[key] = create(t, s, key, key)
	}
	var want []store.Entry
	for _, key := range []string{"p/", "p/a", "p/a/x", "p/b", "p/\xff"} {
		want = append(want, entry(key, key, revisions[key]))
	}
	page := list(t, s, "p/", store.ListOptions{})
	wantEqual(t, page, store.Page{Entries: want, Revision: s.Head()})
	wantEqual(t, len(list(t, s, "", store.ListOptions{}).Entries), len(revisions))
	wantEqual(t, len(list(t, s, "p/zz", store.ListOptions{}).Entries), 0)
	wantEqual(t, list(t, s, "p/", store.ListOptions{After: "p/a"}).Entries, want[2:])
	wantEqual(t, len(list(t, s, "p/", store.ListOptions{After: "p0"}).Entries), 0)
	wantEqual(t, list(t, s, "p/", store.ListOptions{After: "a"}).Entries, want)
}

// testListPages reads a list in pages while every entry of it changes.
func testListPages(t *testing.T, e Engine) {
	s := open(t, e)
	const n, limit = 25, 10
	for i := range n {
		create(t, s, fmt.Sprintf("p/%02d", i), "old")
	}
	want := list(t, s, "p/", store.ListOptions{})

	page := list(t, s, "p/", store.ListOptions{Limit: limit})
	wantEqual(t, page.Remaining, n-limit)
	got := page.Entries
	for round := 0; page.Remaining > 0; round++ {
		for i := range n {
			key := fmt.Sprintf("p/%02d", i)
			if round%2 == 0 {
				remove(t, s, key, store.Any)
			} else {
				create(t, s, key, "new")
			}
		}
		create(t, s, fmt.Sprintf("p/new%d", round), "")
		page = list(t, s, "p/", store.ListOptions{Revision: page.Revision, Limit: limit, After: got[len(got)-1].Key})
		wantEqual(t, page.Revision, want.Revision)
		got = append(got, page.Entries...)
		wantEqual(t, page.Remaining, n-len(got))
	}
	wantEqual(t, got, want.Entries)
}

func testListPast(t *testing.T, e Engine) {
	s := open(t, e)
	first := create(t, s, "a", "1")
	b := create(t, s, "b", "1")
	second := update(t, s, "a", "2", first)
	gone := remove(t, s, "a", second)
	back := create(t, s, "a", "3")

	for revision, want := range map[int64][]store.Entry{
		first:  {entry("a", "1", first)},
		b:      {entry("a", "1", first), entry("b", "1", b)},
		second: {entry("a", "2", second), entry("b", "1", b)},
		gone:   {entry("b", "1", b)},
		back:   {entry("a", "3", back), entry("b", "1", b)},
	} {
		page := list(t, s, "", store.ListOptions{Revision: revision})
		wantEqual(t, page, store.Page{Entries: want, Revision: revision})
	}
	wantEqual(t, list(t, s, "a", store.ListOptions{Revision: second}).Entries, []store.Entry{entry("a", "2", second)})
}

func testListUnknown(t *testing.T, e Engine) {
	s, ctx := open(t, e), context.Background()
	old := create(t, s, "a", "1")
	create(t, s, "b", "1")
	e.Compact(t, s)
	create(t, s, "c", "1")
	for _, revision := range []int64{-1, 1, old, s.Head() + 1, s.Head() + 1<<30} {
		_, err := s.List(ctx, "", store.ListOptions{Revision: revision})
		wantErr(t, err, store.ErrCompacted)
	}
}
