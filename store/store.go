// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package store defines how berth keeps its desired state: an ordered map from
// key to bytes in which every logical write touches one key and has a revision
// of its own. It knows keys and bytes, never pods.
//
// Revisions rise with every write, may skip numbers, stay below 2^53 and are
// never used twice. A write's revision is the entry's version: callers show it
// as an object's resourceVersion and name it as the precondition of the next
// write.
package store

import "context"

// Any is the precondition that accepts every current revision.
const Any int64 = 0

// Store is a revisioned map with compare-and-swap writes and resumable watches.
// All methods are safe for concurrent use. Every error is, or wraps, one of the
// errors of this package or the context's error.
//
// A write whose context ends before it began is not made; one that has begun is
// answered with its outcome. The store keeps no reference to the value given.
type Store interface {
	// Get returns the current entry of key, or ErrNotFound.
	Get(ctx context.Context, key string) (Entry, error)

	// List returns the entries whose key begins with prefix, in key order, as
	// they stood at one revision. See ListOptions for paging.
	List(ctx context.Context, prefix string, opts ListOptions) (Page, error)

	// Create writes a key that does not exist, or fails with ErrExists.
	Create(ctx context.Context, key string, value []byte) (revision int64, err error)

	// Update replaces the value of an existing key whose revision is expected
	// (or Any). It fails with ErrNotFound or ErrConflict and then writes nothing.
	Update(ctx context.Context, key string, value []byte, expected int64) (revision int64, err error)

	// Delete removes an existing key whose revision is expected (or Any). It
	// returns the entry that it removed and the revision of the removal. It
	// fails with ErrNotFound or ErrConflict and then writes nothing.
	Delete(ctx context.Context, key string, expected int64) (removed Entry, revision int64, err error)

	// Watch delivers every change of a key under prefix with a revision above
	// from, once and in order. From a revision that the store cannot resume
	// from (compacted, above the head, or never assigned by this store) it fails
	// with ErrCompacted, and the caller lists again. from == 0 means from now.
	// An idle watch is told of progress (see Progress) from time to time. The
	// watch lasts until Close or until ctx is done.
	Watch(ctx context.Context, prefix string, from int64) (Watcher, error)

	// Head returns the newest revision: that of the newest committed write or,
	// when this store was opened after it, of the opening. A watch may start
	// from it. It waits for nothing.
	Head() int64

	// ID identifies this store for as long as its data lives: it is the same
	// after a restart and after a restore of a copy.
	ID() string

	// Close stops all watches, waits for queued writes to be answered and
	// releases the engine.
	Close() error
}

// Entry is a key's value and the revision that wrote it. Callers do not change
// Value: it may be shared with the store and with other readers.
type Entry struct {
	Key      string
	Value    []byte
	Revision int64
}

// ListOptions narrows a List.
type ListOptions struct {
	// Revision asks for the state at exactly this past revision; 0 means the
	// newest. A revision that is no longer kept, or that this store never
	// assigned, gives ErrCompacted.
	Revision int64
	// Limit bounds the number of entries; 0 means no bound.
	Limit int
	// After skips the keys up to and including this one: the last key of the
	// page before.
	After string
}

// Page is one answer of List.
type Page struct {
	Entries []Entry
	// Revision at which the entries stood. A watch from it sees every later
	// change once; a List with it and After set continues the same snapshot.
	Revision int64
	// Remaining counts the entries after this page; 0 means this is the last.
	Remaining int
}

// EventType says what a change did to its key.
type EventType int

// The kinds of event. Progress carries only a revision: everything up to it has
// been delivered.
const (
	Created EventType = iota + 1
	Updated
	Deleted
	Progress
)

// Event is one change of one key.
type Event struct {
	Type     EventType
	Key      string
	Revision int64
	// Value is the new value; nil for Deleted and Progress.
	Value []byte
	// Prev is the value that the change replaced or deleted; nil for Created.
	Prev []byte
}

// Watcher is one running watch.
type Watcher interface {
	// Next blocks for the next batch of events (never empty, in revision
	// order). After the watch's end it returns why: ErrSlowWatcher when the
	// reader fell too far behind, ErrClosed when the watcher or the store was
	// closed, or the error of the watch's context. ctx bounds this call only.
	// One goroutine at a time may call it.
	Next(ctx context.Context) ([]Event, error)
	// Close ends the watch and frees what belongs to it, also of one that has
	// ended by itself. It is safe to call more than once.
	Close()
}
