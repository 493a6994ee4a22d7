// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"

	"google.golang.org/grpc"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/admission"
	"github.com/berth-run/berth/agent/cgroup"
	"github.com/berth-run/berth/agent/config"
	"github.com/berth-run/berth/agent/cri"
	"github.com/berth-run/berth/agent/events"
	"github.com/berth-run/berth/agent/eviction"
	"github.com/berth-run/berth/agent/node"
	"github.com/berth-run/berth/agent/objects"
	"github.com/berth-run/berth/agent/pleg"
	"github.com/berth-run/berth/agent/podmanager"
	"github.com/berth-run/berth/agent/podruntime"
	"github.com/berth-run/berth/agent/podsync"
	"github.com/berth-run/berth/agent/podworkers"
	"github.com/berth-run/berth/agent/prober"
	"github.com/berth-run/berth/agent/session"
	"github.com/berth-run/berth/agent/status"
	"github.com/berth-run/berth/agent/syncloop"
	"github.com/berth-run/berth/agent/tokens"
	"github.com/berth-run/berth/agent/tunnel"
	"github.com/berth-run/berth/agent/volume"
	"github.com/berth-run/berth/internal/rungroup"
)

// assembly is the node's parts, put together over a runtime from the bottom of the
// pipeline to its top. A part that needs one which is built after it asks the
// assembly for that when it runs.
type assembly struct {
	*Agent
	client *cri.Client
	server grpc.ClientConnInterface
	// ips are the node's addresses.
	ips     []string
	machine admission.Machine

	recorder *events.Recorder
	pods     *podmanager.Manager
	statuses *status.Manager

	dirs    podsync.PodDirs
	objects *objects.Cache
	tokens  *tokens.Manager
	volumes *volume.Manager
	cgroups *cgroup.Manager

	probes  *prober.Manager
	runtime *podruntime.Runtime
	about   podruntime.RuntimeVersion
	network *network
	node    *node.Node

	pleg      *pleg.PLEG
	reporter  *status.Reporter
	workers   *podworkers.PodWorkers
	mux       *config.Mux
	loop      *syncloop.Loop
	evictions *eviction.Manager

	session *session.Client
	tunnel  *tunnel.Client
}

// assemble builds the parts of the node over a runtime, and returns them in the
// order in which they start.
func (a *Agent) assemble(ctx context.Context, client *cri.Client, server grpc.ClientConnInterface) (*rungroup.Group, error) {
	machine, err := a.readMachine()
	if err != nil {
		return nil, err
	}
	p := &assembly{Agent: a, client: client, server: server, machine: machine, ips: a.cfg.IPs}
	if len(p.ips) == 0 {
		p.ips = []string{node.DetectIP()}
	}
	p.recorder = events.New(a.cfg.Name)
	p.pods = podmanager.New()
	p.statuses = status.NewManager(a.log)
	for _, build := range []func(context.Context) error{
		p.buildStorage, p.buildRuntime, p.buildNode, p.buildPipeline, p.buildConnections,
	} {
		if err := build(ctx); err != nil {
			return nil, err
		}
	}
	a.health.up(a.checks(p.loop.Healthy, p.pleg.Healthy)...)
	a.log.Info("the node is up", "id", NodeID(a.cfg.StateDir), "server", a.cfg.Server, "runtime", p.about.Name, "version", p.about.Version)
	return p.group(), nil
}

func (p *assembly) group() *rungroup.Group {
	var g rungroup.Group
	g.Add("network", p.network.run)
	g.Add("node", p.node.Run)
	g.Add("pleg", p.pleg.Run)
	g.Add("address check", func(ctx context.Context) error { return p.runtime.WatchAddresses(ctx, p.pleg.Request) })
	g.Add("registry credentials", func(ctx context.Context) error { return p.runtime.WatchNodeCredentials(ctx, p.workers.Resync) })
	g.Add("probes", p.probes.Run)
	g.Add("pod workers", p.workers.Run)
	g.Add("sync loop", p.loop.Run)
	g.Add("eviction", p.evictions.Run)
	g.Add("config", p.mux.Run)
	g.Add("session", p.session.Run)
	g.Add("tunnel", p.tunnel.Run)
	return &g
}

// checks are the given ones, and that of the node's own containerd.
func (a *Agent) checks(checks ...func() error) []func() error {
	if a.own != nil {
		checks = append(checks, a.own.Healthy)
	}
	return checks
}

// allocatable is what the node has for pods.
func (p *assembly) allocatable() corev1.ResourceList { return p.node.Node().Status.Allocatable }
