// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package agent puts a node's agent together: the session with the server as the
// config source, the sync loop and the pod workers, and the runtime below.
package agent

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/berth-run/berth/agent/containerd"
	"github.com/berth-run/berth/agent/cri"
	"github.com/berth-run/berth/internal/rungroup"
)

// runtimeTimeout bounds the wait for the runtime to answer at the agent's start.
const runtimeTimeout = 30 * time.Second

// Agent runs one node.
type Agent struct {
	cfg Config
	log *slog.Logger
	// own is the node's containerd; nil with a runtime that is there already.
	own *containerd.Runtime
	// metrics and, unless the node has none, health are there once Run has begun.
	metrics *prometheus.Registry
	health  *health
}

// New checks the configuration. Nothing is made or started before Run.
func New(cfg Config) (*Agent, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	a := &Agent{cfg: cfg, log: cfg.Logger.With("node", cfg.Name)}
	if cfg.RuntimeEndpoint != "" {
		return a, nil
	}
	var err error
	a.own, err = OwnRuntime(cfg)
	return a, err
}

// Run runs the node until ctx ends or a part fails. Its pods and its containerd
// run on.
func (a *Agent) Run(ctx context.Context) error {
	dir, err := a.cfg.claimStateDir()
	if err != nil {
		return err
	}
	defer dir.Close()
	a.metrics = newMetrics()
	if a.health, err = newHealth(a.cfg.Health, a.metrics); err != nil {
		return err
	}
	var g rungroup.Group
	if a.health != nil {
		g.Add("health", a.health.run)
	}
	if a.own != nil {
		g.Add("containerd", a.own.Run)
	}
	g.Add("node", a.runNode)
	return g.Run(ctx)
}

// runNode waits for the runtime, then runs all that needs it.
func (a *Agent) runNode(ctx context.Context) error {
	endpoint := a.cfg.RuntimeEndpoint
	if a.own != nil {
		endpoint = a.own.Endpoint()
		err := a.own.Ready(ctx)
		if err == nil {
			err = a.own.ImportImages(ctx)
		}
		if err != nil {
			return unlessEnded(ctx, err)
		}
	}
	client, err := cri.Dial(endpoint, cri.Measure(a.metrics))
	if err != nil {
		return err
	}
	defer client.Close()
	server, err := dialServer(a.cfg.Server)
	if err != nil {
		return err
	}
	defer server.Close()
	parts, err := a.assemble(ctx, client, server)
	if err != nil {
		return unlessEnded(ctx, fmt.Errorf("runtime %s: %w", endpoint, err))
	}
	return parts.Run(ctx)
}

// unlessEnded drops what went wrong only because the agent is ending: the cause of
// that is told elsewhere.
func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
