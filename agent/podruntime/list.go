// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/podtypes"
)

// ListPods lists what the runtime has of the node's pods, in two calls.
func (r *Runtime) ListPods(ctx context.Context) ([]*podtypes.RuntimePod, error) {
	sandboxes, containers, err := r.list(ctx, nil)
	if err != nil {
		return nil, err
	}
	pods := map[types.UID]*podtypes.RuntimePod{}
	for _, s := range sandboxes {
		p := podOf(pods, s.GetLabels())
		p.Sandboxes = append(p.Sandboxes, toSandbox(s))
	}
	for _, c := range containers {
		p := podOf(pods, c.GetLabels())
		p.Containers = append(p.Containers, toContainer(c))
	}
	all := slices.SortedFunc(maps.Values(pods), func(a, b *podtypes.RuntimePod) int { return cmp.Compare(a.UID, b.UID) })
	for _, p := range all {
		slices.SortFunc(p.Sandboxes, newerSandbox)
		slices.SortFunc(p.Containers, newerContainer)
	}
	return all, nil
}

func podOf(pods map[types.UID]*podtypes.RuntimePod, labels map[string]string) *podtypes.RuntimePod {
	uid := types.UID(labels[podUIDLabel])
	p, ok := pods[uid]
	if !ok {
		p = &podtypes.RuntimePod{UID: uid, Namespace: labels[podNamespaceLabel], Name: labels[podNameLabel]}
		pods[uid] = p
	}
	return p
}

// list returns the node's sandboxes and containers that have the labels besides.
func (r *Runtime) list(ctx context.Context, labels map[string]string) ([]*runtimeapi.PodSandbox, []*runtimeapi.Container, error) {
	selector := map[string]string{nodeLabel: r.cfg.NodeID}
	maps.Copy(selector, labels)
	var sandboxes *runtimeapi.ListPodSandboxResponse
	var containers *runtimeapi.ListContainersResponse
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		sandboxes, err = r.cfg.CRI.Runtime.ListPodSandbox(ctx, &runtimeapi.ListPodSandboxRequest{
			Filter: &runtimeapi.PodSandboxFilter{LabelSelector: selector},
		})
		return err
	})
	g.Go(func() (err error) {
		containers, err = r.cfg.CRI.Runtime.ListContainers(ctx, &runtimeapi.ListContainersRequest{
			Filter: &runtimeapi.ContainerFilter{LabelSelector: selector},
		})
		return err
	})
	if err := g.Wait(); err != nil {
		return nil, nil, fmt.Errorf("listing what the runtime has: %w", err)
	}
	return sandboxes.GetItems(), containers.GetContainers(), nil
}

func toSandbox(s *runtimeapi.PodSandbox) podtypes.Sandbox {
	return podtypes.Sandbox{
		ID:        s.GetId(),
		Attempt:   s.GetMetadata().GetAttempt(),
		Ready:     s.GetState() == runtimeapi.PodSandboxState_SANDBOX_READY,
		CreatedAt: toTime(s.GetCreatedAt()),
	}
}

func toContainer(c *runtimeapi.Container) podtypes.Container {
	return podtypes.Container{
		ID:        c.GetId(),
		Name:      c.GetLabels()[containerNameLabel],
		SandboxID: c.GetPodSandboxId(),
		Attempt:   c.GetMetadata().GetAttempt(),
		State:     toState(c.GetState()),
		CreatedAt: toTime(c.GetCreatedAt()),
	}
}

func toState(s runtimeapi.ContainerState) podtypes.ContainerState {
	switch s {
	case runtimeapi.ContainerState_CONTAINER_CREATED:
		return podtypes.ContainerCreated
	case runtimeapi.ContainerState_CONTAINER_RUNNING:
		return podtypes.ContainerRunning
	case runtimeapi.ContainerState_CONTAINER_EXITED:
		return podtypes.ContainerExited
	}
	return podtypes.ContainerUnknown
}

// toTime reads the runtime's nanoseconds, of which 0 is no time.
func toTime(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns)
}

// Newest first: by attempt, for clocks step; by creation among equals.

func newerSandbox(a, b podtypes.Sandbox) int {
	return cmp.Or(cmp.Compare(b.Attempt, a.Attempt), b.CreatedAt.Compare(a.CreatedAt))
}

func newerContainer(a, b podtypes.Container) int {
	return cmp.Or(cmp.Compare(b.Attempt, a.Attempt), b.CreatedAt.Compare(a.CreatedAt))
}
