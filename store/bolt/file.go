// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"errors"
	"fmt"

	bbolt "go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"

	"github.com/berth-run/berth/store"
)

// file runs transactions on the open file and gives their errors a class.
type file struct {
	path string
	db   *bbolt.DB
	// commit runs a read-write transaction: db.Update, but for tests.
	commit func(func(*bbolt.Tx) error) error
}

func newFile(path string, db *bbolt.DB) *file {
	return &file{path: path, db: db, commit: db.Update}
}

// update runs fn and commits. fn is guarded by itself: when it panics rather
// than fails, bbolt scans the whole file, in a goroutine that nobody guards.
func (f *file) update(fn func(*bbolt.Tx) error) error {
	return f.classify(guard(func() error {
		return f.commit(func(tx *bbolt.Tx) error {
			return guard(func() error { return fn(tx) })
		})
	}))
}

func (f *file) view(fn func(*bbolt.Tx) error) error {
	return f.classify(guard(func() error { return f.db.View(fn) }))
}

func (f *file) classify(err error) error {
	switch {
	case err == nil, errors.Is(err, store.ErrCompacted):
		return err
	case errors.Is(err, bbolterrors.ErrDatabaseNotOpen):
		return store.ErrClosed
	}
	return fmt.Errorf("%w: %w", store.ErrUnavailable, fileError(f.path, err))
}
