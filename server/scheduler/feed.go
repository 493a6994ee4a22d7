// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"log/slog"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/server/registry"
)

// Feed tells the scheduler of the pods and nodes of a registry until ctx ends.
func (s *Scheduler) Feed(ctx context.Context, w registry.Watcher, log *slog.Logger) error {
	var feeds sync.WaitGroup
	feeds.Go(func() { registry.Follow(ctx, w, api.Nodes, nodeSink{s}, log) })
	feeds.Go(func() { registry.Follow(ctx, w, api.Pods, podSink{s}, log) })
	feeds.Wait()
	return nil
}

type podSink struct{ s *Scheduler }

func (p podSink) Set(_ context.Context, e registry.WatchEvent) {
	p.s.PodChanged(e.Object.(*corev1.Pod))
}
func (p podSink) Remove(e registry.WatchEvent) { p.s.PodRemoved(e.Object.GetUID()) }
func (p podSink) Retain(_ context.Context, uids map[types.UID]struct{}, _ string) {
	p.s.RetainPods(uids)
}

type nodeSink struct{ s *Scheduler }

func (n nodeSink) Set(_ context.Context, e registry.WatchEvent) {
	n.s.NodeChanged(e.Object.(*corev1.Node))
}
func (n nodeSink) Remove(e registry.WatchEvent) { n.s.NodeRemoved(e.Object.GetUID()) }
func (n nodeSink) Retain(_ context.Context, uids map[types.UID]struct{}, _ string) {
	n.s.RetainNodes(uids)
}
