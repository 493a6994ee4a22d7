// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sleep waits for time to pass, unless a context ends before.
package sleep

import (
	"context"
	"time"
)

// For waits for d, or not at all if it is not positive. If ctx ends before, it
// returns the context's error.
func For(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
