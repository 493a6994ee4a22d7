// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"context"
	"sync"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/server/registry"
)

// Run keeps the index true to the registry until ctx ends.
func (d *Dispatcher) Run(ctx context.Context) error {
	var feeds sync.WaitGroup
	follow := func(k *api.Kind, sink registry.Sink) {
		feeds.Go(func() { registry.Follow(ctx, d.registry, k, sink, d.logger) })
	}
	follow(api.Nodes, nodeSink{d.registry, d.sessions})
	follow(api.Pods, podSink{d.registry, d.index, d.logger})
	follow(api.Secrets, objectSink{d.index, api.Secrets})
	follow(api.ConfigMaps, objectSink{d.index, api.ConfigMaps})
	feeds.Wait()
	return nil
}
