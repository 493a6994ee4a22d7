// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cri

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// callDeadline bounds a call that carries no deadline of its own. A stop has it beyond
// its grace period, to kill and reap: a runtime that has much to end takes its time,
// and one that is asked again meanwhile takes longer.
const callDeadline = 2 * time.Minute

// reconnect is quick: the runtime is on this machine, and what waits for it is a
// person's pod.
var reconnect = grpc.ConnectParams{
	Backoff:           backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 3 * time.Second},
	MinConnectTimeout: 5 * time.Second,
}

// WithDeadline bounds the context of a call by what the request may take. A
// deadline that the context already has stands.
func WithDeadline(ctx context.Context, req any) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	switch r := req.(type) {
	case *runtimeapi.PullImageRequest:
		return ctx, func() {}
	case *runtimeapi.ExecSyncRequest:
		if r.GetTimeout() == 0 {
			return ctx, func() {}
		}
		return context.WithTimeout(ctx, time.Duration(r.GetTimeout())*time.Second+callDeadline)
	case *runtimeapi.StopContainerRequest:
		return context.WithTimeout(ctx, time.Duration(r.GetTimeout())*time.Second+callDeadline)
	}
	return context.WithTimeout(ctx, callDeadline)
}
