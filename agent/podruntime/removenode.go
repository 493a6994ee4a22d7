// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"context"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/cri"
)

// RemoveNode ends at once, and removes, all that a runtime has of a node's pods, and
// nothing of anybody else.
func RemoveNode(ctx context.Context, client *cri.Client, nodeID string) error {
	r := &Runtime{cfg: Config{CRI: client, NodeID: nodeID}, ends: newEndSlots()}
	sandboxes, containers, err := r.list(ctx, nil)
	if err != nil {
		return err
	}
	if err := inParallel(sandboxes, func(s **runtimeapi.PodSandbox) error { return r.stopSandbox(ctx, (*s).GetId()) }); err != nil {
		return err
	}
	if err := inParallel(containers, func(c **runtimeapi.Container) error { return r.removeContainer(ctx, (*c).GetId()) }); err != nil {
		return err
	}
	return inParallel(sandboxes, func(s **runtimeapi.PodSandbox) error { return r.removeSandbox(ctx, (*s).GetId()) })
}
