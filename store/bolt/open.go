// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"context"
	"fmt"
	mathrand "math/rand/v2"

	iradix "github.com/hashicorp/go-immutable-radix/v2"
	bbolt "go.etcd.io/bbolt"

	"github.com/berth-run/berth/store"
)

// Open opens the store in the file at path, or creates it; its directory must
// exist. One process at a time can have it open. A file of an older berth is
// migrated; one that is newer, damaged or not a store is refused and left as it
// is. Every error names the file and, where there is one, the way out.
func Open(path string, opts Options) (*Store, error) {
	opts = opts.withDefaults()
	db, err := openFile(path, opts.LockTimeout)
	if err != nil {
		return nil, err
	}
	content, err := begin(db)
	if err != nil {
		db.Close()
		return nil, fileError(path, err)
	}
	return start(newFile(path, db), content, opts), nil
}

// content is what a Store keeps of its file in memory.
type content struct {
	id        string
	epochs    epochs
	snapshot  *snapshot
	logEvents int
	logBytes  int64
}

// begin writes the record of a new epoch and loads the file. A file that does
// not load is left as it is.
func begin(db *bbolt.DB) (content, error) {
	var c content
	err := guard(func() error {
		return db.Update(func(tx *bbolt.Tx) error {
			if err := beginEpoch(tx); err != nil {
				return err
			}
			return c.load(tx)
		})
	})
	return c, err
}

func beginEpoch(tx *bbolt.Tx) error {
	if err := ensureSchema(tx); err != nil {
		return err
	}
	head, err := readHead(tx)
	if err != nil {
		return err
	}
	next, err := epochAfter(head, mathrand.Int64N)
	if err != nil {
		return err
	}
	if err := next.put(tx); err != nil {
		return err
	}
	return forgetEpochs(tx)
}

// forgetEpochs removes the records that nobody needs any more. The first that
// stays is the floor, if no later event is.
func forgetEpochs(tx *bbolt.Tx) error {
	all, err := readEpochs(tx)
	if err != nil {
		return err
	}
	floor, err := readFloor(tx)
	if err != nil {
		return err
	}
	n := all.forgettable(floor)
	for _, e := range all[:n] {
		if err := tx.Bucket(bucketEpochs).Delete(encodeRevision(e.first)); err != nil {
			return err
		}
	}
	return raiseFloor(tx, all[n].first)
}

func (c *content) load(tx *bbolt.Tx) (err error) {
	c.id = string(tx.Bucket(bucketMeta).Get(keyID))
	if c.epochs, err = readEpochs(tx); err != nil {
		return err
	}
	entries, err := readEntries(tx)
	if err != nil {
		return err
	}
	head, err := readHead(tx)
	if err != nil {
		return err
	}
	c.snapshot = &snapshot{tree: entries, revision: head}
	return tx.Bucket(bucketLog).ForEach(func(_, v []byte) error {
		c.logEvents++
		c.logBytes += int64(len(v))
		return nil
	})
}

func readEntries(tx *bbolt.Tx) (*tree, error) {
	txn := iradix.New[store.Entry]().Txn()
	err := tx.Bucket(bucketEntries).ForEach(func(k, v []byte) error {
		entry, err := decodeEntry(k, v)
		if err != nil {
			return fmt.Errorf("entry %q: %w", k, err)
		}
		txn.Insert([]byte(entry.Key), entry)
		return nil
	})
	return txn.Commit(), err
}

// start starts the goroutines of a Store.
func start(f *file, c content, opts Options) *Store {
	s := &Store{
		opts:   opts,
		id:     c.id,
		epochs: c.epochs,
		file:   f,
		hub:    newHub(c.snapshot),
		queue:  newQueue(),
		kept:   keptSnapshots{keep: opts.KeepSnapshots},
	}
	usage := newLogUsage(opts, c.logEvents, c.logBytes)
	committer := &committer{file: f, hub: s.hub, queue: s.queue, log: usage, took: newCommitDuration(opts.Metrics)}
	s.show(opts.Metrics, usage)
	s.compactor = &compactor{
		file:     f,
		usage:    usage,
		maxAge:   opts.LogAge,
		interval: opts.CompactInterval,
		logger:   opts.Logger,
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.running.Go(committer.run)
	s.running.Go(func() { s.compactor.run(ctx) })
	s.running.Go(func() { s.housekeep(ctx) })
	return s
}
