// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	bbolt "go.etcd.io/bbolt"

	"github.com/berth-run/berth/store"
)

func TestEveryFlippedBitIsFound(t *testing.T) {
	key, record := []byte("key"), encodeEntry("key", 42, []byte("value"))
	for i := range 8 * len(record) {
		flipped := bytes.Clone(record)
		flipped[i/8] ^= 1 << (i % 8)
		if entry, err := decodeEntry(key, flipped); !errors.Is(err, errDamaged) {
			t.Errorf("bit %d: %+v, %v", i, entry, err)
		}
	}
	if _, err := decodeEntry([]byte("other"), record); !errors.Is(err, errDamaged) {
		t.Errorf("under another key: %v", err)
	}
}

// flip changes a bit of what is stored under key, as a disk might.
func flip(t *testing.T, path string, bucket, key []byte) {
	t.Helper()
	updateRaw(t, path, func(tx *bbolt.Tx) error {
		b := tx.Bucket(bucket)
		record := bytes.Clone(b.Get(key))
		record[len(record)-1] ^= 1
		return b.Put(key, record)
	})
}

func TestDamagedEntryIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := mustOpen(t, path, Options{})
	mustCreate(t, s, "pods/default/web", "value")
	s.Close()
	flip(t, path, bucketEntries, []byte("pods/default/web"))
	_, err := Open(path, Options{})
	wantRefusal(t, err, path, `entry "pods/default/web": damaged: its checksum does not match: restore a copy`)
}

// What is damaged of the past is not told as if it were right; the present is
// served.
func TestDamagedEventIsNotTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := mustOpen(t, path, Options{})
	from := s.Head()
	mustCreate(t, s, "k", "1")
	revision, err := s.Update(context.Background(), "k", []byte("2"), store.Any)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	flip(t, path, bucketLog, encodeRevision(revision))
	s = mustOpen(t, path, Options{})
	defer s.Close()
	if _, err := s.Watch(context.Background(), "", from); !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), path) {
		t.Errorf("a watch over it: %v", err)
	}
	if e, err := s.Get(context.Background(), "k"); err != nil || string(e.Value) != "2" {
		t.Errorf("%+v, %v", e, err)
	}
}

// unsealAll makes the records those of version 1.
func unsealAll(tx *bbolt.Tx) error {
	for _, name := range [][]byte{bucketEntries, bucketLog} {
		b := tx.Bucket(name)
		bodies := map[string][]byte{}
		if err := b.ForEach(func(k, v []byte) error {
			bodies[string(k)] = bytes.Clone(v[sealSize:])
			return nil
		}); err != nil {
			return err
		}
		for k, body := range bodies {
			if err := b.Put([]byte(k), body); err != nil {
				return err
			}
		}
	}
	return nil
}

func TestMigrateFromVersion1(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := mustOpen(t, path, Options{})
	from := s.Head()
	for i := range 300 { // some pages
		mustCreate(t, s, podKey(i), strings.Repeat("v", i))
	}
	before := list(t, s, "").Entries
	s.Close()
	updateRaw(t, path, func(tx *bbolt.Tx) error {
		if err := unsealAll(tx); err != nil {
			return err
		}
		return writeSchema(tx, 1)
	})
	s = mustOpen(t, path, Options{})
	defer s.Close()
	after := list(t, s, "").Entries
	if len(after) != len(before) {
		t.Fatalf("%d entries of %d", len(after), len(before))
	}
	for i, e := range after {
		if e.Key != before[i].Key || e.Revision != before[i].Revision || !bytes.Equal(e.Value, before[i].Value) {
			t.Errorf("%s became %s", before[i].Key, e.Key)
		}
	}
	mustWatch(t, s, "", from)
	checkHistory(t, s)
}
