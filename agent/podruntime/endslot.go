// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	// maxEnds is how many calls that end pods are made at once, beside the starts. On two
	// cores 4, 8 and 16 end as many pods a second. With many more, calls only wait for
	// each other inside the runtime, until its own time limits fail them: containerd
	// gives up on a container's end that takes it 10 s.
	maxEnds = 8
	// promptEnd is how long a container is expected to need that heeds its stop signal.
	promptEnd = time.Second
	// workingCall is how long a call is taken to be at work rather than to hang.
	workingCall = 10 * time.Second
)

func newEndSlots() *semaphore.Weighted { return semaphore.NewWeighted(maxEnds) }

// inEndSlot makes a call when there is a place among those that end pods, first come
// first served. A call that takes longer than holds gives its place to another: it
// waits, for a grace period to pass or for what hangs, and does not keep the machine
// busy.
func (r *Runtime) inEndSlot(ctx context.Context, holds time.Duration, call func() error) error {
	if err := r.ends.Acquire(ctx, 1); err != nil {
		return err
	}
	release := sync.OnceFunc(func() { r.ends.Release(1) })
	defer release()
	defer time.AfterFunc(holds, release).Stop()
	return call()
}
