// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	bbolt "go.etcd.io/bbolt"

	"github.com/berth-run/berth/store"
)

// Store is a store.Store in one file. Open makes it, Close ends it.
type Store struct {
	opts   Options
	id     string
	epochs epochs

	file      *file
	hub       *hub
	queue     *queue
	kept      keptSnapshots
	compactor *compactor

	// stop ends compactor and housekeeper; closing the queue ends the committer.
	stop    context.CancelFunc
	running sync.WaitGroup

	closed    atomic.Bool
	closeOnce sync.Once
	closeErr  error
}

var _ store.Store = (*Store)(nil)

// ID implements store.Store.
func (s *Store) ID() string { return s.id }

// Epoch identifies this opening of the store: no other, also of a copy, has the
// same.
func (s *Store) Epoch() string { return s.epochs[len(s.epochs)-1].id }

// Head implements store.Store.
func (s *Store) Head() int64 { return s.hub.current.Load().revision }

// Get implements store.Store.
func (s *Store) Get(ctx context.Context, key string) (store.Entry, error) {
	if err := s.usable(ctx); err != nil {
		return store.Entry{}, fmt.Errorf("get %q: %w", key, err)
	}
	entry, ok := s.hub.current.Load().get(key)
	if !ok {
		return store.Entry{}, fmt.Errorf("get %q: %w", key, store.ErrNotFound)
	}
	return entry, nil
}

// List implements store.Store. Any revision down to the log's floor can be
// listed, also after a restart. The newest costs nothing but the entries; a past
// one costs a scan of the log since then, unless a list is paging through it.
func (s *Store) List(ctx context.Context, prefix string, opts store.ListOptions) (store.Page, error) {
	if err := s.usable(ctx); err != nil {
		return store.Page{}, fmt.Errorf("list %q: %w", prefix, err)
	}
	snapshot, err := s.at(prefix, opts.Revision)
	if err != nil {
		return store.Page{}, fmt.Errorf("list %q: %w", prefix, err)
	}
	page := snapshot.page(prefix, opts.After, opts.Limit)
	if page.Remaining > 0 {
		s.kept.put(prefix, snapshot, time.Now())
	}
	return page, nil
}

// at returns the snapshot of a revision, right under prefix.
func (s *Store) at(prefix string, revision int64) (*snapshot, error) {
	current := s.hub.current.Load()
	if revision == 0 || revision == current.revision {
		return current, nil
	}
	if kept, ok := s.kept.get(prefix, revision); ok {
		return kept, nil
	}
	if !s.epochs.assigned(revision, current.revision) {
		return nil, compacted(revision)
	}
	var past *snapshot
	err := s.file.view(func(tx *bbolt.Tx) (err error) {
		past, err = rewind(tx, current, revision, prefix)
		return err
	})
	return past, err
}

// Create implements store.Store.
func (s *Store) Create(ctx context.Context, key string, value []byte) (int64, error) {
	w := &write{op: opCreate, key: key, value: value}
	err := s.write(ctx, w)
	return w.revision, err
}

// Update implements store.Store.
func (s *Store) Update(ctx context.Context, key string, value []byte, expected int64) (int64, error) {
	w := &write{op: opUpdate, key: key, value: value, expected: expected}
	err := s.write(ctx, w)
	return w.revision, err
}

// Delete implements store.Store.
func (s *Store) Delete(ctx context.Context, key string, expected int64) (store.Entry, int64, error) {
	w := &write{op: opDelete, key: key, expected: expected}
	err := s.write(ctx, w)
	return w.removed, w.revision, err
}

// write queues w and waits for its outcome.
func (s *Store) write(ctx context.Context, w *write) error {
	w.done = make(chan struct{})
	err := checkSize(w)
	if err == nil {
		err = s.usable(ctx)
	}
	if err == nil {
		err = s.queue.add(w)
	}
	if err != nil {
		return fmt.Errorf("%s %q: %w", w.op, w.key, err)
	}
	return w.wait(ctx)
}

func checkSize(w *write) error {
	switch {
	case w.key == "":
		return fmt.Errorf("%w: it is empty", store.ErrInvalidKey)
	case len(w.key) > MaxKeySize:
		return fmt.Errorf("%w: %d bytes are over %d", store.ErrInvalidKey, len(w.key), MaxKeySize)
	case len(w.value) > MaxValueSize:
		return fmt.Errorf("%w: %d bytes are over %d", store.ErrTooLarge, len(w.value), MaxValueSize)
	}
	return nil
}

// Watch implements store.Store.
func (s *Store) Watch(ctx context.Context, prefix string, from int64) (store.Watcher, error) {
	w, err := s.watch(ctx, prefix, from)
	if err != nil {
		return nil, fmt.Errorf("watch %q: %w", prefix, err)
	}
	return w, nil
}

func (s *Store) watch(ctx context.Context, prefix string, from int64) (*watcher, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	w := newWatcher(prefix, s.opts.WatchBuffer, s.opts.WatchBytes)
	joined, err := s.hub.join(w)
	if err != nil {
		return nil, err
	}
	if from == 0 {
		from = joined.revision
	}
	past, err := s.past(prefix, from, joined)
	if err != nil {
		s.hub.leave(w)
		return nil, err
	}
	w.begin(from, past)
	forget := context.AfterFunc(ctx, func() {
		w.end(ctx.Err())
		s.hub.leave(w)
	})
	w.leave = func() {
		forget()
		s.hub.leave(w)
	}
	return w, nil
}

// past returns the events under prefix above from, up to those of a snapshot.
func (s *Store) past(prefix string, from int64, to *snapshot) ([]store.Event, error) {
	if from == to.revision {
		return nil, nil
	}
	if !s.epochs.assigned(from, to.revision) {
		return nil, compacted(from)
	}
	var events []store.Event
	err := s.file.view(func(tx *bbolt.Tx) (err error) {
		events, err = replay(tx, from, to.revision, prefix, to.get)
		return err
	})
	return events, err
}

// usable returns why a call cannot be served.
func (s *Store) usable(ctx context.Context) error {
	if s.closed.Load() {
		return store.ErrClosed
	}
	return ctx.Err()
}

// Close implements store.Store. Writes that were queued are committed.
func (s *Store) Close() error {
	s.closeOnce.Do(func() {
		s.closed.Store(true)
		s.queue.close()
		s.stop()
		s.running.Wait()
		s.hub.close()
		if err := guard(s.file.db.Close); err != nil {
			s.closeErr = fileError(s.file.path, err)
		}
	})
	return s.closeErr
}
