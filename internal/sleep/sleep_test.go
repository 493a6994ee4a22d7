// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package sleep

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for _, c := range []struct {
			d, took time.Duration
			err     error
		}{
			{-time.Second, 0, nil},
			{0, 0, nil},
			{time.Second, time.Second, nil},
			{time.Hour, 59 * time.Second, context.DeadlineExceeded},
			{0, 0, nil},
			{time.Second, 0, context.DeadlineExceeded},
		} {
			begin := time.Now()
			if err := For(ctx, c.d); !errors.Is(err, c.err) || time.Since(begin) != c.took {
				t.Errorf("%s: %v after %s, want %v after %s", c.d, err, time.Since(begin), c.err, c.took)
			}
		}
	})
}
