// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// clients is how many send requests at once.
const clients = 16

// sender sends the i-th request of a load and reads its answer. Each client has
// one, so a sender need not be safe for concurrent use.
type sender interface{ send(i int) error }

// outcome is what a load has measured.
type outcome struct {
	latencies sample
	rate      float64 // per second
}

// load sends n requests, from the clients at once, as fast as they are answered.
func load(b *testing.B, senders []sender, n int) outcome {
	b.Helper()
	var next atomic.Int64
	var running sync.WaitGroup
	latencies := make(sample, n)
	errs := make(chan error, len(senders))
	begin := time.Now()
	for _, s := range senders {
		running.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				sent := time.Now()
				if err := s.send(i); err != nil {
					errs <- err
					return
				}
				latencies[i] = time.Since(sent)
			}
		})
	}
	running.Wait()
	took := time.Since(begin)
	select {
	case err := <-errs:
		b.Fatal(err)
	default:
	}
	return outcome{latencies, float64(n) / took.Seconds()}
}
