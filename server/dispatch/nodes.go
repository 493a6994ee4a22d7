// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/server/registry"
)

// register registers the session's node, and makes the session end when that Node
// is deleted: its agent comes back at once, with what it says now, and by the one
// way in which nodes are registered.
func (d *Dispatcher) register(ctx context.Context, mine *slot, presented *corev1.Node) (*corev1.Node, error) {
	node, err := d.nodes.Register(ctx, mine.agent.id, presented)
	if err != nil {
		return nil, err
	}
	d.sessions.registered(mine, node.UID)
	// Of a deletion before that, the feed found no session to tell.
	nodeSink{d.registry, d.sessions}.check(ctx, node.Name, node.UID)
	return node, nil
}

// nodeSink ends the sessions of Nodes that are gone.
type nodeSink struct {
	registry Registry
	sessions *sessions
}

func (s nodeSink) Set(context.Context, registry.WatchEvent) {}

func (s nodeSink) Remove(e registry.WatchEvent) {
	s.sessions.unregistered(e.Object.GetName(), e.Object.GetUID())
}

// Retain looks at the Nodes as they are now: a session may have registered one
// since the set was complete.
func (s nodeSink) Retain(ctx context.Context, _ map[types.UID]struct{}, _ string) {
	for name, uid := range s.sessions.nodes() {
		s.check(ctx, name, uid)
	}
}

func (s nodeSink) check(ctx context.Context, name string, uid types.UID) {
	now, err := s.registry.Get(ctx, api.Nodes, "", name)
	if apierrors.IsNotFound(err) || err == nil && now.GetUID() != uid {
		s.sessions.unregistered(name, uid)
	}
}
