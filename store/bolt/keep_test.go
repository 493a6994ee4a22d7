// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/berth-run/berth/store"
)

// TestKeptSnapshots: the pages of a list come from memory, and when that is
// over, from the log.
func TestKeptSnapshots(t *testing.T) {
	path := t.TempDir() + "/store.db"
	synctest.Test(t, func(t *testing.T) {
		s, ctx := mustOpen(t, path, Options{}), context.Background()
		defer s.Close()
		for _, key := range []string{"p/1", "p/2", "p/3"} {
			mustCreate(t, s, key, "old")
		}
		opts := store.ListOptions{Limit: 1}
		page, err := s.List(ctx, "p/", opts)
		if err != nil || page.Remaining != 2 {
			t.Fatalf("%+v, %v", page, err)
		}
		opts.Revision, opts.After = page.Revision, "p/1"
		if _, err := s.Update(ctx, "p/2", []byte("new"), store.Any); err != nil {
			t.Fatal(err)
		}
		compactAll(t, s)
		time.Sleep(4 * time.Minute)
		if page, err := s.List(ctx, "p/", opts); err != nil || string(page.Entries[0].Value) != "old" {
			t.Fatalf("%+v, %v", page, err)
		}
		if _, err := s.List(ctx, "", opts); err == nil {
			t.Error("the snapshot was given under another prefix")
		}
		time.Sleep(4 * time.Minute) // the page before has kept it for longer
		if _, err := s.List(ctx, "p/", opts); err != nil {
			t.Fatal(err)
		}
		time.Sleep(7 * time.Minute)
		s.kept.mu.Lock()
		n := len(s.kept.all)
		s.kept.mu.Unlock()
		if n != 0 {
			t.Errorf("%d snapshots are kept", n)
		}
		if _, err := s.List(ctx, "p/", opts); err == nil {
			t.Error("a snapshot came out of a compacted log")
		}
	})
}

func TestKeptSnapshotsAreFew(t *testing.T) {
	k := keptSnapshots{keep: time.Minute}
	now := time.Now()
	for i := range int64(maxKept + 5) {
		k.put("", &snapshot{revision: i}, now.Add(time.Duration(i)))
	}
	if len(k.all) != maxKept {
		t.Errorf("%d are kept", len(k.all))
	}
	if _, ok := k.get("", 4); ok {
		t.Error("the oldest is kept")
	}
	if _, ok := k.get("", 5); !ok {
		t.Error("a newer one is not kept")
	}
}
