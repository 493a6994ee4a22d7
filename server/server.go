// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package server puts the server together: the store and the registry over it,
// the scheduler and dispatch beside it, gRPC and REST in front.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"google.golang.org/grpc"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/internal/rungroup"
	"github.com/berth-run/berth/internal/version"
	nodepb "github.com/berth-run/berth/proto/berth/node/v1"
	"github.com/berth-run/berth/server/dispatch"
	"github.com/berth-run/berth/server/events"
	"github.com/berth-run/berth/server/gc"
	"github.com/berth-run/berth/server/namespaces"
	"github.com/berth-run/berth/server/nodes"
	"github.com/berth-run/berth/server/registry"
	"github.com/berth-run/berth/server/rest"
	"github.com/berth-run/berth/server/rpc"
	"github.com/berth-run/berth/server/scheduler"
	"github.com/berth-run/berth/server/tokens"
	"github.com/berth-run/berth/server/tunnel"
	"github.com/berth-run/berth/store/bolt"
)

// Server holds the parts of a server, ready to run.
type Server struct {
	cfg       Config
	log       *slog.Logger
	store     *bolt.Store
	registry  *registry.Registry
	events    *events.Events
	dispatch  *dispatch.Dispatcher
	scheduler *scheduler.Scheduler
	feeds     registry.Feeds // the scheduler's
	grpc      *grpc.Server
	http      *http.Server
	listeners []*listener
	metrics   *prometheus.Registry
	shutdown  atomic.Bool
}

// New opens the store and the listeners. Nothing is served before Run, which also
// closes them; a Server that is not run is closed with Close.
func New(ctx context.Context, cfg Config) (_ *Server, err error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, log: cfg.Logger, metrics: newMetrics()}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	db, err := bolt.Open(StorePath(cfg.DataDir), bolt.Options{Logger: cfg.Logger, Metrics: s.metrics})
	if err != nil {
		return nil, err
	}
	s.store = db
	s.registry = registry.New(db, registry.Options{Logger: cfg.Logger})
	if err := s.registry.EnsureDefaults(ctx); err != nil {
		return nil, err
	}
	s.events = events.New(s.registry, events.Options{TTL: cfg.EventTTL, Logger: cfg.Logger, Metrics: s.metrics})
	binder := scheduler.NewBinder(s.registry, s.events.From(corev1.DefaultSchedulerName))
	s.scheduler = scheduler.New(binder, cfg.Logger, s.metrics)
	s.feeds = s.scheduler.Feeds(s.registry, cfg.Logger)
	if err := s.front(); err != nil {
		return nil, err
	}
	return s, s.listen()
}

// front builds what clients and agents talk to.
func (s *Server) front() error {
	known, err := nodes.New(s.registry, nodes.Options{
		ClusterRange: s.cfg.ClusterCIDR, Events: s.events.From(api.ServerComponent), Logger: s.log,
	})
	if err != nil {
		return err
	}
	tunnels := tunnel.New(known, s.log)
	s.dispatch = dispatch.New(s.registry, known, dispatch.Options{
		StoreID: s.store.ID(), Events: s.events, Version: version.String(), Logger: s.log, Metrics: s.metrics,
	})
	signer, err := tokens.LoadSigner(TokenKeyPath(s.cfg.DataDir))
	if err != nil {
		return err
	}
	issuer := tokens.New(s.registry, signer, nil)
	services := rpc.New(known.WithLeases(s.registry), tunnel.NewLogs(tunnels), rpc.Options{Logger: s.log, Metrics: s.metrics, Tokens: issuer})
	s.grpc = grpc.NewServer(append(services.ServerOptions(), dispatch.ServerOptions()...)...)
	nodepb.RegisterNodeServer(s.grpc, s.dispatch.Service(tunnels, issuer))
	services.Register(s.grpc)

	handler, err := rest.New(services, rest.Options{
		Logger: s.log, Metrics: s.metrics, Gatherer: s.metrics, Ready: s.ready(), Revision: s.store.Head,
		TokenKeys: signer.PublicKeys(),
	})
	if err != nil {
		return err
	}
	s.http = &http.Server{
		Handler:           rest.LoopbackOnly(handler),
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	return nil
}

// A REST connection that is only held open ends after these times: one whose
// request does not come, and one that has no other after the last.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
)

// newMetrics returns the registry behind /metrics, with the figures of the process.
func newMetrics() *prometheus.Registry {
	metrics := prometheus.NewRegistry()
	metrics.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return metrics
}

// Run serves until ctx ends or a part fails.
func (s *Server) Run(ctx context.Context) error {
	defer s.Close()
	var g rungroup.Group
	g.Add("events", s.events.Run)
	g.Add("dispatch", s.dispatch.Run)
	g.Add("scheduler feed", s.feeds.Run)
	g.Add("scheduler", s.scheduler.Run)
	g.Add("garbage collector", gc.New(s.registry, s.log).Run)
	g.Add("namespaces", namespaces.New(s.registry, s.log).Run)
	g.Add("listeners", s.serve)
	s.log.Info("the server is up", "version", version.String(), "http", s.cfg.HTTP, "grpc", s.cfg.GRPC, "socket", s.cfg.Socket,
		"store", StorePath(s.cfg.DataDir))
	return g.Run(ctx)
}

// Close releases the listeners and the store.
func (s *Server) Close() error {
	for _, l := range s.listeners {
		l.Close()
	}
	if s.store == nil {
		return nil
	}
	return s.store.Close()
}
