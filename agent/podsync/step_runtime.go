// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podsync

import (
	"context"
	"errors"
	"time"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/api"
)

// startContainers has the runtime bring the pod nearer to its spec, and reports
// what came of it at once: a pod is Ready as soon as it runs, not when the next
// event or listing shows it. Unless the runtime did something, nothing is read.
func (p *podSync) startContainers(ctx context.Context) error {
	var result podtypes.SyncResult
	acted := p.holding(p.pod.UID, func() { result = p.Runtime.SyncPod(ctx, p.pod, p.read, p.pullSecrets) })
	if result.Changed {
		p.outcome.ActedAt = acted
	}
	if ctx.Err() != nil {
		// The pod is to end: what was broken off says nothing of it.
		return ctx.Err()
	}
	err := result.Err
	if result.Changed {
		err = errors.Join(err, p.readAgain(ctx, acted))
	}
	p.Resizes.SetError(p.pod.UID, result.ResizeError)
	reasons := result.Reasons
	if reasons == nil {
		reasons = map[string]podtypes.WaitingReason{}
	}
	status := p.Status.Syncing(p.pod, p.read, reasons)
	p.outcome.Terminal = err == nil && api.IsTerminalPhase(status.Phase)
	p.outcome.RetryAfter = result.RetryAfter
	return err
}

func (p *podSync) readAgain(ctx context.Context, acted time.Time) error {
	status, err := p.readAfter(ctx, p.pod.UID, acted)
	if err != nil {
		return err
	}
	p.read = status
	return p.probeContainers(ctx)
}
