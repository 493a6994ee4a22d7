// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"context"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/server/registry"
)

func (d *Dispatcher) newFeeds() registry.Feeds {
	feed := func(k *api.Kind, sink registry.Sink) *registry.Feed {
		return registry.NewFeed(d.registry, k, sink, d.logger)
	}
	return registry.Feeds{
		feed(api.Nodes, nodeSink{d.registry, d.sessions}),
		feed(api.Pods, podSink{d.registry, d.index, d.logger}),
		feed(api.Secrets, objectSink{d.index, api.Secrets}),
		feed(api.ConfigMaps, objectSink{d.index, api.ConfigMaps}),
		feed(api.RuntimeClasses, objectSink{d.index, api.RuntimeClasses}),
	}
}

// Run keeps the index true to the registry until ctx ends.
func (d *Dispatcher) Run(ctx context.Context) error { return d.feeds.Run(ctx) }

// Ready returns why the index may lack something.
func (d *Dispatcher) Ready(ctx context.Context) error { return d.feeds.Ready(ctx) }
