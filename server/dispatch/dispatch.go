// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package dispatch tells each node's agent what to run, and takes in what became
// of it.
//
// A watch per kind keeps a live index of the pods bound to each node and of the
// Secrets and ConfigMaps that they name. A session compares what its agent holds
// with the index, at its start as after every change: the difference is all that
// is ever sent. A change only marks what is to be compared, so a slow agent holds
// up nobody, and gets the newest state when it reads again.
package dispatch

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"

	"github.com/berth-run/berth/api"
	nodepb "github.com/berth-run/berth/proto/berth/node/v1"
	"github.com/berth-run/berth/server/registry"
)

// Registry is what dispatch needs of the registry.
type Registry interface {
	Get(ctx context.Context, k *api.Kind, namespace, name string) (api.Object, error)
	Watch(ctx context.Context, k *api.Kind, namespace string, o registry.WatchOptions) (registry.Watch, error)
	ApplyPodStatus(ctx context.Context, node string, report registry.PodStatus) (resourceVersion string, err error)
	FinishPodDeletion(ctx context.Context, node, namespace, name string, uid types.UID) error
}

// Nodes keeps the Node objects and who is connected.
type Nodes interface {
	// Register registers the node that the agent of that id presents.
	Register(ctx context.Context, id string, presented *corev1.Node) (*corev1.Node, error)
	UpdateStatus(ctx context.Context, name string, status *corev1.NodeStatus) error
	Connect(node, id string) (disconnect func())
	Heartbeat(node string)
}

// Events keeps events.
type Events interface {
	// Store stores an event. One that repeats comes again under its name with a
	// higher count, which replaces a lower one.
	Store(ctx context.Context, event *corev1.Event) error
}

// Options of a Dispatcher.
type Options struct {
	// StoreID identifies the store behind the registry.
	StoreID string
	// Events gets those that agents send.
	Events Events
	// Version is the server's own, for agents to log.
	Version string
	Logger  *slog.Logger
	// Metrics, where set, gets the metrics of sessions.
	Metrics prometheus.Registerer
}

// Dispatcher serves Session and WatchNode of the Node service.
type Dispatcher struct {
	registry Registry
	nodes    Nodes
	options  Options
	logger   *slog.Logger
	index    *index
	sessions *sessions
	feeds    registry.Feeds
	sent     *prometheus.CounterVec
}

// New returns a Dispatcher whose index Run keeps alive.
func New(reg Registry, nodes Nodes, o Options) *Dispatcher {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	d := &Dispatcher{
		registry: reg,
		nodes:    nodes,
		options:  o,
		logger:   o.Logger,
		index:    newIndex(),
		sessions: newSessions(),
		sent:     newSentPods(o.Metrics),
	}
	d.feeds = d.newFeeds()
	d.showSessions(o.Metrics)
	return d
}

// Tunneler serves Tunnel, the third method of the Node service.
type Tunneler interface {
	Tunnel(grpc.BidiStreamingServer[nodepb.Frame, nodepb.Frame]) error
}

// PodTokens serves CreatePodToken, the fourth.
type PodTokens interface {
	CreatePodToken(context.Context, *nodepb.PodTokenRequest) (*nodepb.PodToken, error)
}

// Service returns the whole Node service.
func (d *Dispatcher) Service(tunneler Tunneler, tokens PodTokens) nodepb.NodeServer {
	return &service{Dispatcher: d, PodTokens: tokens, tunneler: tunneler}
}

type service struct {
	nodepb.UnsafeNodeServer
	*Dispatcher
	PodTokens
	tunneler Tunneler
}

func (s *service) Tunnel(stream grpc.BidiStreamingServer[nodepb.Frame, nodepb.Frame]) error {
	return s.tunneler.Tunnel(stream)
}

// ServerOptions let agents probe an idle connection as often as they do, and
// find out agents that are gone without a word.
func ServerOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second, PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: 10 * time.Second, Timeout: 8 * time.Second}),
	}
}
