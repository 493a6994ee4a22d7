// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podsync

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/api"
)

// reasonFailedMount is what a container waits for whose pod lacks a volume.
const reasonFailedMount = "FailedMount"

// mountVolumes prepares the volumes before any container sees them. A pod whose
// end is wanted does not come this far. One that has all of its volumes goes on,
// even if they could not be brought up to date: what it runs must not depend on an
// object that was there when it began.
func (p *podSync) mountVolumes(ctx context.Context) error {
	volumes, err := p.Volumes.Mount(ctx, p.pod)
	if err == nil || ctx.Err() != nil {
		return err
	}
	p.warn(p.pod, reasonFailedMount, err.Error())
	if volumes != nil {
		p.Logger.Warn("volumes are not up to date", "pod", api.FullName(p.pod), "err", err)
		return nil
	}
	p.Status.Syncing(p.pod, p.read, everyContainer(p.pod, podtypes.WaitingReason{Reason: reasonFailedMount, Message: err.Error()}))
	return err
}

// everyContainer says the same of all of the pod's containers. It is shown of those
// that do not run.
func everyContainer(pod *corev1.Pod, why podtypes.WaitingReason) map[string]podtypes.WaitingReason {
	all := map[string]podtypes.WaitingReason{}
	for _, c := range api.Containers(&pod.Spec) {
		all[c.Name] = why
	}
	return all
}
