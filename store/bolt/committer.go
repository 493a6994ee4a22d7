// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"errors"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	bbolt "go.etcd.io/bbolt"

	"github.com/berth-run/berth/store"
)

const (
	// maxBatch and maxBatchBytes bound one transaction, and so the time that
	// the first of its writes waits for the last.
	maxBatch      = 1024
	maxBatchBytes = 8 << 20
)

// committer applies queued writes to the file: those that wait at one time in
// one transaction. It waits for no more to come, so that a lone write costs one
// commit and nothing else.
type committer struct {
	file  *file
	hub   *hub
	queue *queue
	log   *logUsage
	took  prometheus.Histogram
	// stale is set while the snapshot may lack what a failed commit has left in
	// the file.
	stale bool
}

// run commits until the queue is closed and empty.
func (c *committer) run() {
	for open := true; open; {
		<-c.queue.ready
		// Whoever can run now and wants to write shall be in this commit.
		runtime.Gosched()
		var writes []*write
		writes, open = c.queue.take()
		for len(writes) > 0 {
			n := batchSize(writes)
			c.commit(claim(writes[:n]))
			writes = writes[n:]
		}
	}
}

// batchSize is how many of the writes go into the next transaction.
func batchSize(writes []*write) int {
	size := 0
	for i, w := range writes {
		size += len(w.value)
		if i > 0 && (i == maxBatch || size > maxBatchBytes) {
			return i
		}
	}
	return len(writes)
}

// claim returns the writes that no caller has given up.
func claim(writes []*write) []*write {
	claimed := make([]*write, 0, len(writes))
	for _, w := range writes {
		if w.claim() {
			claimed = append(claimed, w)
		}
	}
	return claimed
}

// commit makes one transaction of the writes and answers them. If it fails all
// of them fail, also those that were refused: they were judged by the others.
func (c *committer) commit(writes []*write) {
	err := c.tryCommit(writes)
	for _, w := range writes {
		if err != nil {
			w.err = err
		}
		w.finish(w.err)
	}
}

func (c *committer) tryCommit(writes []*write) error {
	if err := c.refresh(); err != nil {
		return err
	}
	current := c.hub.current.Load()
	txn := current.tree.Txn()
	changes := decide(txn, current.revision, writes)
	if len(changes) == 0 {
		return nil
	}
	var size int64
	began := time.Now()
	err := c.file.update(func(tx *bbolt.Tx) (err error) {
		size, err = put(tx, changes, c.log.seconds())
		return err
	})
	c.took.Observe(time.Since(began).Seconds())
	if err != nil {
		c.stale = true
		return errors.Join(err, c.refresh())
	}
	last := changes[len(changes)-1].event.Revision
	c.hub.publish(&snapshot{tree: txn.Commit(), revision: last}, eventsOf(changes))
	c.log.grow(len(changes), size)
	return nil
}

// refresh publishes what the file has and the snapshot lacks. That is nothing,
// unless a commit reached the file and was reported as failed nevertheless.
func (c *committer) refresh() error {
	if !c.stale {
		return nil
	}
	current := c.hub.current.Load()
	next := *current
	var events []store.Event
	err := c.file.view(func(tx *bbolt.Tx) (err error) {
		if next.revision, err = readHead(tx); err != nil {
			return err
		}
		events, err = replay(tx, current.revision, next.revision, "", func(key string) (store.Entry, bool) {
			record := tx.Bucket(bucketEntries).Get([]byte(key))
			entry, err := decodeEntry([]byte(key), record)
			return entry, err == nil
		})
		return err
	})
	if err != nil {
		return err
	}
	next.tree = applyEvents(current.tree, events)
	c.hub.publish(&next, events)
	c.log.grow(len(events), eventBytes(events))
	c.stale = false
	return nil
}

func applyEvents(t *tree, events []store.Event) *tree {
	txn := t.Txn()
	for _, e := range events {
		if e.Type == store.Deleted {
			txn.Delete([]byte(e.Key))
			continue
		}
		txn.Insert([]byte(e.Key), store.Entry{Key: e.Key, Value: e.Value, Revision: e.Revision})
	}
	return txn.Commit()
}

// eventBytes is about what the events take in the log.
func eventBytes(events []store.Event) int64 {
	var size int64
	for _, e := range events {
		size += int64(len(e.Key) + len(e.Prev))
	}
	return size
}
