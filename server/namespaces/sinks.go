// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package namespaces

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/internal/reconcile"
	"github.com/berth-run/berth/server/registry"
)

// settle is how long changes in a namespace that is being deleted are gathered
// before it is looked at again: each look lists what is left.
const settle = 50 * time.Millisecond

// feeds tell which namespaces to look at.
func (c *Controller) feeds(queue reconcile.Queue[string]) registry.Feeds {
	spaces := &spaces{known: map[string]space{}}
	feeds := registry.Feeds{registry.NewFeed(c.registry, api.Namespaces, spaceSink{spaces, queue}, c.log)}
	for _, k := range api.Kinds {
		if k.Namespaced {
			feeds = append(feeds, registry.NewFeed(c.registry, k, contentSink{spaces, k, queue}, c.log))
		}
	}
	return feeds
}

// spaces are the namespaces that have been heard of.
type spaces struct {
	mu    sync.Mutex
	known map[string]space
}

type space struct {
	uid    types.UID
	ending bool
}

// spaceSink has each namespace looked at that changes.
type spaceSink struct {
	spaces *spaces
	queue  reconcile.Queue[string]
}

func (s spaceSink) Set(_ context.Context, e registry.WatchEvent) {
	s.spaces.mu.Lock()
	defer s.spaces.mu.Unlock()
	name := e.Object.GetName()
	s.spaces.known[name] = space{e.Object.GetUID(), e.Object.GetDeletionTimestamp() != nil}
	s.queue.Add(name)
}

func (s spaceSink) Remove(e registry.WatchEvent) {
	s.spaces.mu.Lock()
	defer s.spaces.mu.Unlock()
	delete(s.spaces.known, e.Object.GetName())
}

func (s spaceSink) Retain(_ context.Context, uids map[types.UID]struct{}, _ string) {
	s.spaces.mu.Lock()
	defer s.spaces.mu.Unlock()
	for name, space := range s.spaces.known {
		if _, exists := uids[space.uid]; !exists {
			delete(s.spaces.known, name)
		}
	}
}

// contentSink has a namespace looked at that is being deleted when something in it
// changes, and any namespace that loses its default account.
type contentSink struct {
	spaces *spaces
	kind   *api.Kind
	queue  reconcile.Queue[string]
}

func (s contentSink) Set(_ context.Context, e registry.WatchEvent) {
	s.changed(e.Object.GetNamespace())
}

func (s contentSink) Remove(e registry.WatchEvent) {
	if s.kind == api.ServiceAccounts && e.Object.GetName() == defaultAccount {
		s.queue.Add(e.Object.GetNamespace())
		return
	}
	s.changed(e.Object.GetNamespace())
}

// Retain looks everywhere: what went meanwhile was not heard of.
func (s contentSink) Retain(context.Context, map[types.UID]struct{}, string) {
	s.spaces.mu.Lock()
	defer s.spaces.mu.Unlock()
	for name := range s.spaces.known {
		s.queue.Add(name)
	}
}

func (s contentSink) changed(namespace string) {
	s.spaces.mu.Lock()
	ending := s.spaces.known[namespace].ending
	s.spaces.mu.Unlock()
	if ending {
		s.queue.AddAfter(namespace, settle)
	}
}
