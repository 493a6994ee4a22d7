// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// MaxValueSize is the largest value in bytes; a larger one gives
// store.ErrTooLarge.
const MaxValueSize = 3 << 19

// MaxKeySize is the largest key in bytes; a longer or empty one gives
// store.ErrInvalidKey.
const MaxKeySize = 4096

// Options tunes a Store. The zero value of a field means its default.
type Options struct {
	// Logger receives what no caller can be told. Default: discard.
	Logger *slog.Logger
	// Metrics, where set, gets the store's metrics.
	Metrics prometheus.Registerer
	// Now is the wall clock that stamps and ages events. Default: time.Now.
	Now func() time.Time
	// LockTimeout is how long Open waits for another process to let go of the
	// file. Default: 1 s.
	LockTimeout time.Duration
	// KeepSnapshots is how long a snapshot that a list is paging through stays
	// in memory after its last page. Later pages are rebuilt from the event log.
	// Default: 5 min.
	KeepSnapshots time.Duration
	// LogEvents, LogBytes and LogAge bound the event log: what is over any of
	// them is compacted. Defaults: 100,000 events, 256 MiB, 1 h.
	LogEvents int
	LogBytes  int64
	LogAge    time.Duration
	// CompactInterval is how often the log's age is looked at, and how soon a
	// failed compaction is tried again. Default: 1 min.
	CompactInterval time.Duration
	// WatchBuffer is the number of events that a watcher may be behind before
	// it is dropped as slow, and WatchBytes their size. Defaults: 16,384, 128 MiB.
	WatchBuffer int
	WatchBytes  int64
	// ProgressInterval is how often an idle watcher is told how far the store
	// has come, if it has. Default: 10 s.
	ProgressInterval time.Duration
}

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	setDefault(&o.LockTimeout, time.Second)
	setDefault(&o.KeepSnapshots, 5*time.Minute)
	setDefault(&o.LogEvents, 100_000)
	setDefault(&o.LogBytes, 256<<20)
	setDefault(&o.LogAge, time.Hour)
	setDefault(&o.CompactInterval, time.Minute)
	setDefault(&o.WatchBuffer, 16_384)
	setDefault(&o.WatchBytes, 128<<20)
	setDefault(&o.ProgressInterval, 10*time.Second)
	return o
}

func setDefault[T int | int64 | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}
