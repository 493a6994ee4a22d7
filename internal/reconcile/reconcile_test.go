// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestFailuresComeAgainAndTheRestOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue[string]()
		var looked []string
		var at []time.Duration
		began := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		for _, key := range []string{"a", "b", "a"} {
			q.Add(key)
		}
		go func() {
			defer close(done)
			Run(ctx, q, 1, slog.New(slog.DiscardHandler), func(_ context.Context, key string) error {
				looked, at = append(looked, key), append(at, time.Since(began))
				if key == "b" && len(looked) < 4 {
					return errors.New("not yet")
				}
				return nil
			})
		}()
		time.Sleep(time.Hour)
		cancel()
		<-done
		if want := []string{"a", "b", "b", "b"}; !slices.Equal(looked, want) {
			t.Errorf("looked at %q, want %q", looked, want)
		}
		if want := []time.Duration{0, 0, firstRetry, 3 * firstRetry}; !slices.Equal(at, want) {
			t.Errorf("looked at %v, want %v", at, want)
		}
		q.Add("a")
		if q.Len() != 0 {
			t.Error("an ended queue takes keys")
		}
	})
}

func TestRunEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue[int]()
		q.Add(1)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		Run(ctx, q, 4, slog.New(slog.DiscardHandler), func(ctx context.Context, _ int) error {
			<-ctx.Done()
			return ctx.Err()
		})
		if n := q.NumRequeues(1); n != 0 {
			t.Errorf("%d retries of what its context ended", n)
		}
	})
}
