// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import "errors"

// The classes of error that a Store returns, wrapped with the key they concern.
var (
	// ErrNotFound: the key does not exist.
	ErrNotFound = errors.New("key not found")
	// ErrExists: the key to create exists already.
	ErrExists = errors.New("key exists")
	// ErrConflict: the key's revision is not the expected one.
	ErrConflict = errors.New("revision conflict")
	// ErrCompacted: the revision cannot be read or resumed from; list again.
	ErrCompacted = errors.New("revision is not available")
	// ErrSlowWatcher: the watcher fell too far behind and was dropped.
	ErrSlowWatcher = errors.New("watcher is too slow")
	// ErrClosed: the store is closed.
	ErrClosed = errors.New("store is closed")
	// ErrTooLarge: the value is over the engine's limit.
	ErrTooLarge = errors.New("value is too large")
	// ErrInvalidKey: the key is empty or over the engine's limit.
	ErrInvalidKey = errors.New("key is not valid")
	// ErrUnavailable: the engine could not read or commit (disk full, no
	// connection). A write that fails with it may have happened or not: read
	// before trying again.
	ErrUnavailable = errors.New("store is unavailable")
)
