// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/api"
)

// preStop runs the hook of a container that is about to be stopped, until the deadline
// at most. Its failure keeps no container from being stopped.
func (p *podStop) preStop(ctx context.Context, k *containerToKill, grace time.Duration, deadline time.Time) {
	spec := api.Container(p.pod, k.Name)
	if spec == nil || spec.Lifecycle == nil || spec.Lifecycle.PreStop == nil || grace <= 0 {
		return
	}
	hookCtx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	err := p.runHook(hookCtx, hooked{id: k.ID, spec: spec, podIPs: p.podIPs}, spec.Lifecycle.PreStop)
	if err == nil || ctx.Err() != nil {
		return
	}
	message := fmt.Sprintf("The preStop hook of container %s failed: %v", k.Name, err)
	if errors.Is(hookCtx.Err(), context.DeadlineExceeded) {
		message = fmt.Sprintf("The preStop hook of container %s ran out of time: it was cut off after the grace period of %s", k.Name, grace)
	}
	p.recorder.Record(p.pod, fieldPath(p.pod, k.Name), corev1.EventTypeWarning, "FailedPreStopHook", message)
}
