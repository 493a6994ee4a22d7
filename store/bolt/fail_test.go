// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	bbolt "go.etcd.io/bbolt"

	"github.com/berth-run/berth/store"
)

var errInjected = errors.New("injected")

// TestFailedCommit lets a commit fail before it reaches the file.
func TestFailedCommit(t *testing.T) {
	s, ctx := newStore(t, Options{}), context.Background()
	created := mustCreate(t, s, "a", "1")
	w := mustWatch(t, s, "", 0)

	s.file.commit = func(fn func(*bbolt.Tx) error) error {
		return s.file.db.Update(func(tx *bbolt.Tx) error { return errors.Join(fn(tx), errInjected) })
	}
	_, err := s.Update(ctx, "a", []byte("2"), created)
	if !errors.Is(err, store.ErrUnavailable) || !errors.Is(err, errInjected) || !strings.Contains(err.Error(), s.file.path) {
		t.Fatalf("error %v", err)
	}
	if entry, err := s.Get(ctx, "a"); err != nil || entry.Revision != created || s.Head() != created {
		t.Fatalf("got %+v, %v, head %d after a failed commit", entry, err, s.Head())
	}

	s.file.commit = s.file.db.Update
	updated, err := s.Update(ctx, "a", []byte("3"), created)
	if err != nil || updated != created+1 {
		t.Fatalf("revision %d, %v after the disk is well again", updated, err)
	}
	if events := next(t, w); len(events) != 1 || string(events[0].Value) != "3" || string(events[0].Prev) != "1" {
		t.Fatalf("events %+v", events)
	}
}

// TestCommitReportedFailed lets a commit reach the file and yet be reported as
// failed, as when the last sync fails. What the file has must then be shown,
// and its revisions not be given out again.
func TestCommitReportedFailed(t *testing.T) {
	s, ctx := newStore(t, Options{}), context.Background()
	created := mustCreate(t, s, "a", "1")
	mustCreate(t, s, "b", "1")
	w := mustWatch(t, s, "", 0)

	s.file.commit = func(fn func(*bbolt.Tx) error) error {
		return errors.Join(s.file.db.Update(fn), errInjected)
	}
	if _, err := s.Update(ctx, "a", []byte("2"), created); !errors.Is(err, store.ErrUnavailable) {
		t.Fatalf("error %v", err)
	}
	if _, _, err := s.Delete(ctx, "b", store.Any); !errors.Is(err, store.ErrUnavailable) {
		t.Fatalf("error %v", err)
	}
	s.file.commit = s.file.db.Update

	if entry, err := s.Get(ctx, "a"); err != nil || string(entry.Value) != "2" || entry.Revision != created+2 {
		t.Fatalf("got %+v, %v", entry, err)
	}
	if revision := mustCreate(t, s, "c", "1"); revision != created+4 {
		t.Fatalf("revision %d, want %d", revision, created+4)
	}
	var got []string
	for len(got) < 3 {
		for _, e := range next(t, w) {
			got = append(got, fmt.Sprintf("%d %s %s>%s", e.Type, e.Key, e.Prev, e.Value))
		}
	}
	if want := "2 a 1>2;3 b 1>;1 c >1"; strings.Join(got, ";") != want {
		t.Fatalf("events %q, want %q", got, want)
	}
}

// TestFailedBatch checks that a failed commit fails all of its batch, also the
// write that was refused because of another one of it.
func TestFailedBatch(t *testing.T) {
	s := newStore(t, Options{})
	s.file.commit = func(func(*bbolt.Tx) error) error { return errInjected }
	writes := []*write{
		{op: opCreate, key: "a", done: make(chan struct{})},
		{op: opCreate, key: "a", done: make(chan struct{})},
	}
	c := committer{file: s.file, hub: s.hub, queue: s.queue, log: s.compactor.usage, took: newCommitDuration(nil)}
	c.commit(writes)
	for _, w := range writes {
		<-w.done
		if !errors.Is(w.err, store.ErrUnavailable) || errors.Is(w.err, store.ErrExists) {
			t.Errorf("error %v", w.err)
		}
	}
}

// TestDiskFull fills a small file system, and makes room again.
func TestDiskFull(t *testing.T) {
	dir := mountTmpfs(t, "size=2m")
	ballast := filepath.Join(dir, "ballast")
	writeFile(t, ballast, make([]byte, 1<<20))
	path := filepath.Join(dir, "store.db")
	s, ctx := mustOpen(t, path, Options{}), context.Background()

	acked := map[string]bool{}
	create := func() error {
		key := fmt.Sprint("k", len(acked))
		_, err := s.Create(ctx, key, make([]byte, 50_000))
		if err == nil {
			acked[key] = true
		}
		return err
	}
	var err error
	for err == nil {
		err = create()
	}
	if !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "make room") {
		t.Fatalf("error %v", err)
	}
	if got := len(list(t, s, "").Entries); got != len(acked) {
		t.Fatalf("%d entries, %d acknowledged", got, len(acked))
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if err := create(); err != nil {
			t.Fatalf("with room again: %v", err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, path, Options{})
	defer s.Close()
	if got := len(list(t, s, "").Entries); got != len(acked) {
		t.Fatalf("%d entries after a restart, %d acknowledged", got, len(acked))
	}
}

// TestTruncatedWhileOpen takes the file away from under the store: reading it
// faults, which must not end the process.
func TestTruncatedWhileOpen(t *testing.T) {
	s, ctx := newStore(t, Options{}), context.Background()
	start := s.Head()
	fill(t, s, 50)
	if err := os.Truncate(s.file.path, int64(2*os.Getpagesize())); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Watch(ctx, "", start); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("watch: %v", err)
	}
	if _, err := s.Create(ctx, "a", nil); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("create: %v", err)
	}
	if got := len(list(t, s, "").Entries); got != 50 {
		t.Errorf("%d entries in memory", got)
	}
}

// TestGivenUp ends a write's context while it waits behind another one.
func TestGivenUp(t *testing.T) {
	s := newStore(t, Options{})
	began, goOn := make(chan struct{}), make(chan struct{})
	s.file.commit = func(fn func(*bbolt.Tx) error) error {
		close(began)
		<-goOn
		s.file.commit = s.file.db.Update
		return s.file.db.Update(fn)
	}
	ctx, cancel := context.WithCancel(context.Background())
	errs := make(chan error, 2)
	go func() {
		_, err := s.Create(ctx, "begun", nil)
		errs <- err
	}()
	<-began
	late := &write{op: opCreate, key: "waiting", done: make(chan struct{})}
	if err := s.queue.add(late); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := late.wait(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v of the write that waited", err)
	}
	close(goOn)
	if err := <-errs; err != nil {
		t.Fatalf("error %v of the write that was begun", err)
	}
	mustCreate(t, s, "after", "")
	if got := len(list(t, s, "").Entries); got != 2 {
		t.Fatalf("%d entries", got)
	}
}

// TestCloseCommitsQueued closes the store while writes are queued.
func TestCloseCommitsQueued(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := mustOpen(t, path, Options{})
	var acked sync.Map
	var group sync.WaitGroup
	for i := range 50 {
		group.Go(func() {
			key := fmt.Sprint("k", i)
			_, err := s.Create(context.Background(), key, nil)
			switch {
			case err == nil:
				acked.Store(key, true)
			case !errors.Is(err, store.ErrClosed):
				t.Error(err)
			}
		})
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	group.Wait()
	s = mustOpen(t, path, Options{})
	defer s.Close()
	entries := list(t, s, "").Entries
	for _, entry := range entries {
		if _, ok := acked.LoadAndDelete(entry.Key); !ok {
			t.Errorf("%s is there and was refused", entry.Key)
		}
	}
	acked.Range(func(key, _ any) bool {
		t.Errorf("%s is acknowledged and not there", key)
		return true
	})
}

func mustCreate(t testing.TB, s *Store, key, value string) int64 {
	t.Helper()
	revision, err := s.Create(context.Background(), key, []byte(value))
	if err != nil {
		t.Fatal(err)
	}
	return revision
}

func mustWatch(t testing.TB, s *Store, prefix string, from int64) store.Watcher {
	t.Helper()
	w, err := s.Watch(context.Background(), prefix, from)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

func next(t testing.TB, w store.Watcher) []store.Event {
	t.Helper()
	events, err := w.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return events
}
