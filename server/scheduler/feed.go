// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"log/slog"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/server/registry"
)

// Feeds returns what tells the scheduler of the pods and nodes of a registry.
func (s *Scheduler) Feeds(w registry.Watcher, log *slog.Logger) registry.Feeds {
	return registry.Feeds{
		registry.NewFeed(w, api.Nodes, nodeSink{s}, log),
		registry.NewFeed(w, api.Pods, podSink{s}, log),
	}
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
