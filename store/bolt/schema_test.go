// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"context"
	"path/filepath"
	"testing"

	bbolt "go.etcd.io/bbolt"

	"github.com/berth-run/berth/store"
)

// TestMigrateFromVersion0 opens files as version 0 wrote them: without the
// records of schema and floor.
func TestMigrateFromVersion0(t *testing.T) {
	for _, test := range []struct {
		name string
		// compacted is whether the log's beginning, or all of it, was removed.
		change func(t *testing.T, s *Store)
		// resumable says which of the revisions of the three writes can be resumed from.
		resumable [3]bool
	}{
		{"whole log", func(*testing.T, *Store) {}, [3]bool{true, true, true}},
		{"log without its beginning", func(t *testing.T, s *Store) { removeOldest(t, s, 2) }, [3]bool{false, true, true}},
		{"empty log", func(t *testing.T, s *Store) { removeOldest(t, s, 3) }, [3]bool{false, false, true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			s := mustOpen(t, path, Options{})
			id := s.ID()
			revisions := [3]int64{mustCreate(t, s, "a", "1"), mustCreate(t, s, "b", "1"), mustCreate(t, s, "c", "1")}
			test.change(t, s)
			s.Close()
			updateRaw(t, path, func(tx *bbolt.Tx) error {
				if err := unsealAll(tx); err != nil {
					return err
				}
				meta := tx.Bucket(bucketMeta)
				if err := meta.Delete(keyFloor); err != nil {
					return err
				}
				return meta.Delete(keySchema)
			})

			s = mustOpen(t, path, Options{})
			defer s.Close()
			if got := list(t, s, "").Entries; s.ID() != id || len(got) != 3 || got[2].Revision != revisions[2] {
				t.Fatalf("ID %s, entries %+v", s.ID(), got)
			}
			for i, revision := range revisions {
				w, err := s.Watch(context.Background(), "", revision)
				if (err == nil) != test.resumable[i] {
					t.Errorf("watch from write %d: %v", i, err)
				}
				if err == nil {
					w.Close()
				}
			}
			version := uint64(0)
			err := s.file.view(func(tx *bbolt.Tx) (err error) {
				version, err = readSchema(tx)
				return err
			})
			if err != nil || version != schemaVersion {
				t.Errorf("version %d, %v", version, err)
			}
			mustCreate(t, s, "d", "1")
			checkHistory(t, s)
		})
	}
}

// removeOldest removes the first n events of the log.
func removeOldest(t *testing.T, s *Store, n int) {
	t.Helper()
	all := *s.compactor
	all.maxAge = -1e12
	keys, err := all.oldest()
	if err != nil {
		t.Fatal(err)
	}
	if err := all.remove(keys[:n]); err != nil {
		t.Fatal(err)
	}
}

// TestManyRestarts opens a store more often than it keeps epochs.
func TestManyRestarts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := mustOpen(t, path, Options{})
	first := mustCreate(t, s, "a", "1")
	epoch := s.Epoch()
	for range keepEpochs + 2 {
		s.Close()
		s = mustOpen(t, path, Options{})
	}
	defer s.Close()
	if len(s.epochs) != keepEpochs {
		t.Errorf("%d epochs are kept", len(s.epochs))
	}
	if s.Epoch() == epoch {
		t.Error("two epochs have the same ID")
	}
	if _, err := s.Watch(context.Background(), "", first); err == nil {
		t.Error("a watch resumed from a forgotten epoch")
	}
	mustWatch(t, s, "", s.epochs[0].first)
	if _, err := s.Update(context.Background(), "a", nil, first); err != nil {
		t.Error(err)
	}
}

// TestEpochsForgotten: once the log is compacted beyond an epoch, its record
// goes with the next start.
func TestEpochsForgotten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	for range 5 {
		s := mustOpen(t, path, Options{})
		if _, err := s.Create(context.Background(), "a", nil); err != nil {
			if _, err := s.Update(context.Background(), "a", nil, store.Any); err != nil {
				t.Fatal(err)
			}
		}
		compactAll(t, s)
		if len(s.epochs) > 2 {
			t.Errorf("%d epochs", len(s.epochs))
		}
		s.Close()
	}
}
