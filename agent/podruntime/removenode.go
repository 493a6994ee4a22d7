// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"context"

	"golang.org/x/sync/errgroup"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/cri"
)

// removals is how many sandboxes are removed at once: each takes processes of the
// runtime and of its network plugins.
const removals = 8

// RemoveNode ends at once, and removes, all that a runtime has of a node's pods, and
// nothing of anybody else.
func RemoveNode(ctx context.Context, client *cri.Client, nodeID string) error {
	r := &Runtime{cfg: Config{CRI: client, NodeID: nodeID}}
	sandboxes, containers, err := r.list(ctx, nil)
	if err != nil {
		return err
	}
	if err := someAtOnce(sandboxes, func(s *runtimeapi.PodSandbox) error { return r.stopSandbox(ctx, s.GetId()) }); err != nil {
		return err
	}
	if err := someAtOnce(containers, func(c *runtimeapi.Container) error { return r.removeContainer(ctx, c.GetId()) }); err != nil {
		return err
	}
	return someAtOnce(sandboxes, func(s *runtimeapi.PodSandbox) error { return r.removeSandbox(ctx, s.GetId()) })
}

// someAtOnce calls f for each element, and returns the first error when all calls have
// ended.
func someAtOnce[T any](all []T, f func(T) error) error {
	var g errgroup.Group
	g.SetLimit(removals)
	for _, one := range all {
		g.Go(func() error { return f(one) })
	}
	return g.Wait()
}
