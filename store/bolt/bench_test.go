// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/berth-run/berth/store"
)

// podSize is about what an encoded pod with its status takes.
const podSize = 3000

// BenchmarkCreate tells what a create costs, in time and in bytes written.
func BenchmarkCreate(b *testing.B) {
	for _, writers := range []int{1, 16} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			benchmarkWriters(b, writers, func(s *Store, i int64) error {
				_, err := s.Create(context.Background(), fmt.Sprintf("pods/default/pod-%08d", i*7919%100_000_000), make([]byte, podSize))
				return err
			})
		})
	}
}

// BenchmarkUpdate does the same for status updates of 2,000 pods.
func BenchmarkUpdate(b *testing.B) {
	for _, writers := range []int{1, 16} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			benchmarkWriters(b, writers, func(s *Store, i int64) error {
				_, err := s.Update(context.Background(), podKey(int(i%2000)), make([]byte, podSize), store.Any)
				return err
			})
		})
	}
}

func benchmarkWriters(b *testing.B, writers int, write func(s *Store, i int64) error) {
	s := newStore(b, Options{})
	fill(b, s, 2000)
	before := s.file.db.Stats().TxStats
	var next atomic.Int64
	var group sync.WaitGroup
	b.ResetTimer()
	for range writers {
		group.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				if err := write(s, i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	b.StopTimer()
	after := s.file.db.Stats().TxStats
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
	b.ReportMetric(float64(after.GetPageAlloc()-before.GetPageAlloc())/float64(b.N), "disk-B/op")
}

// BenchmarkList lists 2,000 entries.
func BenchmarkList(b *testing.B) {
	s := newStore(b, Options{})
	fill(b, s, 2000)
	for b.Loop() {
		page, err := s.List(context.Background(), "pods/", store.ListOptions{})
		if err != nil || len(page.Entries) != 2000 {
			b.Fatal(len(page.Entries), err)
		}
	}
}

// BenchmarkWatchLag is the time from a write's beginning until a watcher has
// its event, with 1,000 other watches running.
func BenchmarkWatchLag(b *testing.B) {
	s := newStore(b, Options{})
	fill(b, s, 2000)
	ctx := context.Background()
	for i := range 1000 {
		w, err := s.Watch(ctx, fmt.Sprintf("pods/other-%d/", i), 0)
		if err != nil {
			b.Fatal(err)
		}
		defer w.Close()
	}
	w, err := s.Watch(ctx, "pods/", 0)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	value := make([]byte, podSize)
	for i := 0; b.Loop(); i++ {
		if _, err := s.Update(ctx, podKey(i%2000), value, store.Any); err != nil {
			b.Fatal(err)
		}
		if _, err := w.Next(ctx); err != nil {
			b.Fatal(err)
		}
	}
}

func podKey(i int) string { return fmt.Sprintf("pods/default/pod-%04d", i) }

// fill creates n pods at once.
func fill(tb testing.TB, s *Store, n int) {
	tb.Helper()
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			if _, err := s.Create(context.Background(), podKey(i), make([]byte, podSize)); err != nil {
				tb.Error(err)
			}
		})
	}
	group.Wait()
}
