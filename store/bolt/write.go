// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/berth-run/berth/store"
)

// operation is what a write asks for.
type operation int

const (
	opCreate operation = iota
	opUpdate
	opDelete
)

func (o operation) String() string {
	return [...]string{"create", "update", "delete"}[o]
}

// eventType is the type of the event that the operation makes.
func (o operation) eventType() store.EventType {
	return [...]store.EventType{store.Created, store.Updated, store.Deleted}[o]
}

// write is one queued write and, once done is closed, its outcome.
type write struct {
	op       operation
	key      string
	value    []byte
	expected int64

	// claimed is set once: by the committer that takes the write up, or by the
	// caller that gives it up.
	claimed atomic.Bool
	done    chan struct{}

	revision int64
	removed  store.Entry
	err      error
}

// claim reports whether the caller is the first to claim the write.
func (w *write) claim() bool {
	return w.claimed.CompareAndSwap(false, true)
}

// wait returns when the write is done, or when ctx ends and the write was not
// begun: then it never will be.
func (w *write) wait(ctx context.Context) error {
	select {
	case <-w.done:
		return w.err
	case <-ctx.Done():
	}
	if w.claim() {
		return ctx.Err()
	}
	<-w.done
	return w.err
}

func (w *write) finish(err error) {
	if err != nil {
		w.err = fmt.Errorf("%s %q: %w", w.op, w.key, err)
	}
	close(w.done)
}

// check returns why the write cannot be done on the current entry of its key.
func (w *write) check(current store.Entry, exists bool) error {
	switch {
	case w.op == opCreate && exists:
		return store.ErrExists
	case w.op != opCreate && !exists:
		return store.ErrNotFound
	case w.op != opCreate && w.expected != store.Any && w.expected != current.Revision:
		return fmt.Errorf("%w: it is at %d, not at %d", store.ErrConflict, current.Revision, w.expected)
	}
	return nil
}
