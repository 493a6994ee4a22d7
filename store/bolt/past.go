// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"fmt"
	"strings"

	bbolt "go.etcd.io/bbolt"

	"github.com/berth-run/berth/store"
)

// eachPast calls f with every event of the log in (from, to] whose key is under
// prefix, in order. The record points into the file and is valid only within f.
func eachPast(tx *bbolt.Tx, from, to int64, prefix string, f func(revision int64, r logRecord) error) error {
	floor, err := readFloor(tx)
	if err != nil {
		return err
	}
	if from < floor {
		return compacted(from)
	}
	c := tx.Bucket(bucketLog).Cursor()
	for k, v := c.Seek(encodeRevision(from + 1)); k != nil; k, v = c.Next() {
		revision, err := decodeRevision(k)
		if err != nil {
			return fmt.Errorf("log %x: %w", k, err)
		}
		if revision > to {
			return nil
		}
		r, err := decodeLog(k, v)
		if err != nil {
			return fmt.Errorf("event %d: %w", revision, err)
		}
		if !strings.HasPrefix(string(r.key), prefix) {
			continue
		}
		if err := f(revision, r); err != nil {
			return err
		}
	}
	return nil
}

// replay rebuilds the events in (from, to] under prefix. current gives a key's
// entry as it stood at revision to: the value that the last event on it wrote.
func replay(tx *bbolt.Tx, from, to int64, prefix string, current func(key string) (store.Entry, bool)) ([]store.Event, error) {
	var events []store.Event
	last := map[string]int{} // key → its latest event
	err := eachPast(tx, from, to, prefix, func(revision int64, r logRecord) error {
		event := store.Event{Type: r.typ, Key: string(r.key), Revision: revision}
		if r.typ != store.Created {
			event.Prev = r.previous().Value
		}
		if i, ok := last[event.Key]; ok {
			events[i].Value = event.Prev
		}
		last[event.Key] = len(events)
		events = append(events, event)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for key, i := range last {
		if events[i].Type == store.Deleted {
			continue
		}
		entry, ok := current(key)
		if !ok {
			return nil, fmt.Errorf("event %d: %w: %q has no entry", events[i].Revision, errDamaged, key)
		}
		events[i].Value = entry.Value
	}
	return events, nil
}

// rewind rebuilds the state at an earlier revision: it undoes the first event
// after it on each key under prefix. Elsewhere the result is not right.
func rewind(tx *bbolt.Tx, from *snapshot, revision int64, prefix string) (*snapshot, error) {
	txn := from.tree.Txn()
	undone := map[string]bool{}
	err := eachPast(tx, revision, from.revision, prefix, func(_ int64, r logRecord) error {
		switch key := string(r.key); {
		case undone[key]:
			return nil
		case r.typ == store.Created:
			txn.Delete(r.key)
			undone[key] = true
		default:
			txn.Insert([]byte(key), r.previous())
			undone[key] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &snapshot{tree: txn.Commit(), revision: revision}, nil
}

func compacted(revision int64) error {
	return fmt.Errorf("revision %d: %w", revision, store.ErrCompacted)
}
