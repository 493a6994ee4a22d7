// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"fmt"

	iradix "github.com/hashicorp/go-immutable-radix/v2"
	bbolt "go.etcd.io/bbolt"

	"github.com/berth-run/berth/store"
)

// change is a write that was accepted and has its revision.
type change struct {
	event store.Event
	// record is the entry as it is written to the file; nil for a deletion.
	record []byte
	// prev is the entry that is replaced or deleted.
	prev store.Entry
}

// decide goes through the writes in order, each seeing the ones before. It sets
// every write's outcome, applies the accepted ones to txn and returns them.
// Nothing has happened yet but in memory that nobody sees.
func decide(txn *iradix.Txn[store.Entry], head int64, writes []*write) []change {
	changes := make([]change, 0, len(writes))
	for _, w := range writes {
		current, exists := txn.Get([]byte(w.key))
		if w.err = w.check(current, exists); w.err != nil {
			continue
		}
		if head == maxRevision {
			w.err = fmt.Errorf("%w: revisions are used up", store.ErrUnavailable)
			continue
		}
		head++
		c := newChange(w, head, current)
		if w.op == opDelete {
			txn.Delete([]byte(w.key))
			w.removed = current
		} else {
			txn.Insert([]byte(w.key), store.Entry{Key: w.key, Value: c.event.Value, Revision: head})
		}
		w.revision = head
		changes = append(changes, c)
	}
	return changes
}

func newChange(w *write, revision int64, current store.Entry) change {
	c := change{
		event: store.Event{Type: w.op.eventType(), Key: w.key, Revision: revision, Prev: current.Value},
		prev:  current,
	}
	if w.op != opDelete {
		c.record = encodeEntry(w.key, revision, w.value)
		c.event.Value = entryValue(c.record)
	}
	return c
}

// logRecord returns the change as it is written to the log at its revision.
func (c change) logRecord(revision []byte, seconds int64) []byte {
	return logRecord{
		typ:          c.event.Type,
		seconds:      seconds,
		key:          []byte(c.event.Key),
		prevRevision: c.prev.Revision,
		prev:         c.prev.Value,
	}.encode(revision)
}

// put writes the changes to the file and returns the bytes that the log grew by.
func put(tx *bbolt.Tx, changes []change, seconds int64) (int64, error) {
	entries, log := tx.Bucket(bucketEntries), tx.Bucket(bucketLog)
	log.FillPercent = 1 // revisions only rise: nothing is ever put between two events
	var size int64
	for _, c := range changes {
		if err := putEntry(entries, c); err != nil {
			return 0, err
		}
		revision := encodeRevision(c.event.Revision)
		record := c.logRecord(revision, seconds)
		if err := log.Put(revision, record); err != nil {
			return 0, err
		}
		size += int64(len(record))
	}
	return size, nil
}

func putEntry(entries *bbolt.Bucket, c change) error {
	if c.record == nil {
		return entries.Delete([]byte(c.event.Key))
	}
	return entries.Put([]byte(c.event.Key), c.record)
}

func eventsOf(changes []change) []store.Event {
	events := make([]store.Event, len(changes))
	for i, c := range changes {
		events[i] = c.event
	}
	return events
}
