// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package events keeps what happened for a while: it stores the events of the
// server's own parts and those that agents send, and removes what is old or too much.
package events

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/internal/rungroup"
	"github.com/berth-run/berth/server/registry"
)

// Registry is what events need of the registry.
type Registry interface {
	Get(ctx context.Context, k *api.Kind, namespace, name string) (api.Object, error)
	Create(ctx context.Context, k *api.Kind, obj api.Object, o registry.WriteOptions) (api.Object, []string, error)
	Update(ctx context.Context, k *api.Kind, namespace, name string, obj api.Object, o registry.WriteOptions) (api.Object, []string, error)
	Delete(ctx context.Context, k *api.Kind, namespace, name string, o metav1.DeleteOptions) (api.Object, error)
	Watch(ctx context.Context, k *api.Kind, namespace string, o registry.WatchOptions) (registry.Watch, error)
}

// DefaultMax is how many events are kept at most, unless Options say otherwise.
const DefaultMax = 10_000

// Options of Events.
type Options struct {
	// TTL is how long an event is kept after it happened last; 0 means until there
	// are too many.
	TTL time.Duration
	// Max is how many are kept at most, of all namespaces; DefaultMax if 0.
	Max    int
	Logger *slog.Logger
	// Metrics, where set, gets the figures of what was dropped and removed.
	Metrics prometheus.Registerer
}

// Events are the events of one registry.
type Events struct {
	Writer
	recorder *recorder
	sweeper  *sweeper
}

// New returns Events that Run keeps.
func New(reg Registry, o Options) *Events {
	if o.Max == 0 {
		o.Max = DefaultMax
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	w := Writer{reg}
	return &Events{Writer: w, recorder: newRecorder(w, o), sweeper: newSweeper(reg, o)}
}

// Run stores what parts record, and removes what is to go, until ctx ends.
func (e *Events) Run(ctx context.Context) error {
	var g rungroup.Group
	g.Add("sweeper feed", e.sweeper.feeds.Run)
	g.Add("sweeper", e.sweeper.run)
	g.Add("recorder", e.recorder.run)
	return g.Run(ctx)
}
