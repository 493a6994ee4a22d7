// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package gc is the garbage collector: it deletes objects whose owners
// (metadata.ownerReferences) are gone, and does for the dependents of a deleted
// object what the deletion asked for: end them first (foregroundDeletion) or leave
// them alone (orphan).
//
// A graph of all objects, fed by watches, tells which are worth a look. What is
// done follows from live reads alone: the graph may be behind.
//
//	registry ──feeds──► graph ──due UIDs──► queue ──► workers ──► registry
package gc

import (
	"context"
	"log/slog"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/internal/reconcile"
	"github.com/berth-run/berth/server/registry"
)

// Registry is what the collector needs of the registry.
type Registry interface {
	registry.Watcher
	Get(ctx context.Context, k *api.Kind, namespace, name string) (api.Object, error)
	List(ctx context.Context, k *api.Kind, namespace string, o registry.ListOptions) (registry.List, error)
	Delete(ctx context.Context, k *api.Kind, namespace, name string, o metav1.DeleteOptions) (api.Object, error)
	Revise(ctx context.Context, k *api.Kind, namespace, name string, uid types.UID, edit func(api.Object)) error
}

// workers bounds the objects that are looked at at once: enough to share the
// store's commits.
const workers = 8

// Collector collects garbage while it runs.
type Collector struct {
	registry Registry
	log      *slog.Logger

	mu    sync.Mutex
	graph *graph
}

// New returns a collector over a registry.
func New(reg Registry, log *slog.Logger) *Collector {
	return &Collector{registry: reg, log: log.With("part", "garbage collector"), graph: newGraph()}
}

// Run collects until ctx ends.
func (c *Collector) Run(ctx context.Context) error {
	queue := reconcile.NewQueue[types.UID]()
	var feeds registry.Feeds
	for _, k := range collected {
		feeds = append(feeds, registry.NewFeed(c.registry, k, sink{c, k, queue}, c.log))
	}
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { _ = feeds.Run(ctx) })
	reconcile.Run(ctx, queue, workers, c.log, func(ctx context.Context, uid types.UID) error {
		return c.look(ctx, uid, queue)
	})
	return nil
}

// look does what there is to do about an object.
func (c *Collector) look(ctx context.Context, uid types.UID, queue reconcile.Queue[types.UID]) error {
	o, task := c.find(uid)
	switch task {
	case collect:
		return c.collect(ctx, o)
	case orphan:
		return c.orphan(ctx, o)
	case foreground:
		return c.foreground(ctx, o, queue)
	}
	return nil
}

func (c *Collector) find(uid types.UID) (*object, task) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.graph.objects[uid]
	if o == nil {
		return nil, leave
	}
	return o, c.graph.task(o)
}

// known returns the dependents that the graph has of an object.
func (c *Collector) known(owner types.UID) (objects []*object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, uid := range c.graph.dependentsOf(owner) {
		objects = append(objects, c.graph.objects[uid])
	}
	return objects
}

// sink keeps the graph true to one kind.
type sink struct {
	c     *Collector
	kind  *api.Kind
	queue reconcile.Queue[types.UID]
}

func (s sink) Set(_ context.Context, e registry.WatchEvent) {
	s.change(func(g *graph) []types.UID { return g.set(newObject(s.kind, e.Object)) })
}

func (s sink) Remove(e registry.WatchEvent) {
	s.change(func(g *graph) []types.UID { return g.remove(e.Object.GetUID()) })
}

func (s sink) Retain(_ context.Context, uids map[types.UID]struct{}, _ string) {
	s.change(func(g *graph) []types.UID { return g.retain(s.kind, uids) })
}

func (s sink) change(do func(*graph) []types.UID) {
	s.c.mu.Lock()
	due := do(s.c.graph)
	s.c.mu.Unlock()
	for _, uid := range due {
		s.queue.Add(uid)
	}
}
