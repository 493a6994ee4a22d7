// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package probe asks a container once how it is, by each of the handlers that a probe
// can have. It keeps nothing: what several answers mean is the prober's to say.
//
// How a container is asked over HTTP it shares with lifecycle hooks: package reach.
package probe

import (
	"context"
	"fmt"
	"time"

	"github.com/berth-run/berth/agent/podtypes"
)

// userAgent is who asks; there are proxies and logs that know it by its beginning.
const userAgent = "kube-probe/berth"

// maxOutput is how much of an answer is read and told, in bytes.
const maxOutput = 10 << 10

// Outcome is what one try came to. Of an unknown one nothing follows: the container
// could not be asked.
type Outcome struct {
	Result podtypes.ProbeResult
	// Warning: it counts as a success, and users are told of it.
	Warning bool
	// Output says why.
	Output string
}

func success(output string) Outcome {
	return Outcome{Result: podtypes.ProbeSuccess, Output: output}
}

func failure(output string) Outcome {
	return Outcome{Result: podtypes.ProbeFailure, Output: output}
}

func unknown(err error) Outcome {
	return Outcome{Result: podtypes.ProbeUnknown, Output: err.Error()}
}

// slices are the parts in which the time of a try is counted.
const slices = 10

// withTimeout is context.WithTimeout for a process that may be kept from running, on
// a busy machine or within a limit of its own. The time is counted in slices, each
// as what it was to be and not as what it became: a slice in which the process was
// late is not held against the container, and an answer that came meanwhile is found
// before the next has passed.
func withTimeout(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	cause := fmt.Errorf("no answer within %s: %w", timeout, context.DeadlineExceeded)
	countDown(ctx, timeout/slices, slices, func() { cancel(cause) })
	return ctx, func() { cancel(nil) }
}

func countDown(ctx context.Context, slice time.Duration, left int, expire func()) {
	time.AfterFunc(slice, func() {
		switch {
		case ctx.Err() != nil:
		case left == 1:
			expire()
		default:
			countDown(ctx, slice, left-1, expire)
		}
	})
}
