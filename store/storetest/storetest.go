// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package storetest is the suite that every store engine passes. It fixes what
// store.Store promises, so that the rest of berth need not know the engine.
package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/berth-run/berth/store"
)

// Engine opens stores of the engine under test, all over the same data.
type Engine struct {
	// Open opens the store. After its Close, Open opens the same data again.
	// Progress marks come at least every second.
	Open func(t testing.TB) store.Store
	// Compact forgets the history of s up to its head.
	Compact func(t testing.TB, s store.Store)
	// Copy copies the data, while no store is open, and returns an engine for
	// the copy. It is nil if the engine's data cannot be copied so.
	Copy func(t testing.TB) Engine
	// Lag is a number of unread events after which a watcher is dropped.
	Lag int
}

// Run runs the suite. newEngine returns an engine with no data.
func Run(t *testing.T, newEngine func(t testing.TB) Engine) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, Engine)
	}{
		{"CreateGetUpdateDelete", testCRUD},
		{"RefusedWritesWriteNothing", testRefusals},
		{"KeysAndValues", testKeysAndValues},
		{"EndedContext", testEndedContext},
		{"ConcurrentCompareAndSwap", testConcurrentCAS},
		{"ListOrderAndPrefix", testListOrder},
		{"ListPagesOneSnapshot", testListPages},
		{"ListPastRevision", testListPast},
		{"ListUnknownRevision", testListUnknown},
		{"WatchFromNow", testWatchFromNow},
		{"WatchResumes", testWatchResumes},
		{"WatchFromListMissesNothing", testWatchFromList},
		{"WatchOrderUnderConcurrentWriters", testWatchOrder},
		{"WatchUnknownRevision", testWatchUnknown},
		{"WatchCompacted", testWatchCompacted},
		{"WatchEnds", testWatchEnds},
		{"SlowWatcher", testSlowWatcher},
		{"ProgressWhenIdle", testProgress},
		{"Restart", testRestart},
		{"RestoredCopy", testRestoredCopy},
		{"Close", testClose},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, newEngine(t)) })
	}
	t.Run("Model", func(t *testing.T) { testModel(t, newEngine) })
}

// open opens a store that the test's end closes.
func open(t testing.TB, e Engine) store.Store {
	t.Helper()
	s := e.Open(t)
	t.Cleanup(func() { s.Close() })
	return s
}

// within bounds a wait for something that should come at once.
func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	t.Cleanup(cancel)
	return ctx
}
