// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"os"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// newCommitDuration is of the commits of writes; a commit may hold many.
func newCommitDuration(r prometheus.Registerer) prometheus.Histogram {
	return promauto.With(r).NewHistogram(prometheus.HistogramOpts{
		Name:    "berth_store_commit_duration_seconds",
		Help:    "How long commits took, most of it the disk's sync.",
		Buckets: prometheus.ExponentialBuckets(0.0005, 2, 14), // 0.5 ms to 4 s
	})
}

// show registers what is read off the store when somebody asks.
func (s *Store) show(r prometheus.Registerer, usage *logUsage) {
	auto := promauto.With(r)
	gauge := func(name, help string, read func() float64) {
		auto.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read)
	}
	gauge("berth_store_revision", "The newest revision.", func() float64 { return float64(s.Head()) })
	gauge("berth_store_objects", "Current entries.", func() float64 { return float64(s.hub.current.Load().tree.Len()) })
	gauge("berth_store_watchers", "Watches under way.", func() float64 { return float64(s.hub.watching()) })
	gauge("berth_store_log_events", "Past changes that are kept for watches to resume from.", func() float64 { return float64(usage.held()) })
	gauge("berth_store_file_bytes", "Size of the store's file.", func() float64 { return fileBytes(s.file.path) })
}

// fileBytes is 0 for a file that cannot be looked at: the check of the store says
// why.
func fileBytes(path string) float64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return float64(info.Size())
}
