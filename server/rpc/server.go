// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rpc serves the gRPC services of berth.api.v1 over the registry. One
// generic implementation serves every kind of the table; an object comes and
// goes as a typed message or as a Kubernetes manifest. REST goes through the
// same services: see Server.Conn.
//
// Errors inside are Kubernetes Status errors; the interceptors turn them into
// gRPC statuses, once.
package rpc

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/server/registry"
	"github.com/berth-run/berth/server/rpc/inprocess"
)

// Registry is what the services need of the registry. Its errors are Kubernetes
// Status errors, and the objects that it returns are shared and not changed.
type Registry interface {
	Create(ctx context.Context, k *api.Kind, obj api.Object, o registry.WriteOptions) (api.Object, []string, error)
	Get(ctx context.Context, k *api.Kind, namespace, name string) (api.Object, error)
	// GetEncoded returns an object in its Kubernetes protobuf encoding.
	GetEncoded(ctx context.Context, k *api.Kind, namespace, name string) ([]byte, error)
	List(ctx context.Context, k *api.Kind, namespace string, o registry.ListOptions) (registry.List, error)
	Watch(ctx context.Context, k *api.Kind, namespace string, o registry.WatchOptions) (registry.Watch, error)
	Update(ctx context.Context, k *api.Kind, namespace, name string, obj api.Object, o registry.WriteOptions) (api.Object, []string, error)
	UpdateStatus(ctx context.Context, k *api.Kind, namespace, name string, obj api.Object, o registry.WriteOptions) (api.Object, error)
	UpdateEphemeralContainers(ctx context.Context, namespace, name string, obj api.Object, o registry.WriteOptions) (api.Object, []string, error)
	UpdateResize(ctx context.Context, namespace, name string, obj api.Object, o registry.WriteOptions) (api.Object, []string, error)
	Patch(ctx context.Context, k *api.Kind, namespace, name string, p registry.Patch, o registry.WriteOptions) (registry.Patched, error)
	Delete(ctx context.Context, k *api.Kind, namespace, name string, o metav1.DeleteOptions) (api.Object, error)
	DeleteCollection(ctx context.Context, k *api.Kind, namespace string, o metav1.DeleteOptions, which registry.ListOptions) (registry.List, error)
	Bind(ctx context.Context, namespace string, b *corev1.Binding) error
}

// Options of a Server. The zero value logs nowhere and shows no metrics.
type Options struct {
	Logger *slog.Logger
	// Metrics, where set, gets the metrics of all calls.
	Metrics prometheus.Registerer
	// Tokens, where set, issues the tokens of ServiceAccounts.
	Tokens Tokens
}

// Server holds the services of all kinds.
type Server struct {
	reg     Registry
	logs    Logs
	tokens  Tokens
	logger  *slog.Logger
	metrics *metrics
}

// New returns the services over reg and logs.
func New(reg Registry, logs Logs, o Options) *Server {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Server{reg: reg, logs: logs, tokens: o.Tokens, logger: o.Logger, metrics: newMetrics(o.Metrics)}
}

// Register registers the service of every kind and the standard health service
// with r, and reflection over everything that r serves. A *grpc.Server needs the
// ServerOptions too.
func (s *Server) Register(r grpc.ServiceRegistrar) {
	s.registerKinds(r)
	healthpb.RegisterHealthServer(r, health.NewServer())
	if r, ok := r.(reflection.GRPCServer); ok {
		reflection.Register(r)
	}
}

// ServerOptions returns the interceptors: errors become gRPC statuses, panics
// are caught and logged, calls are counted. They suit other services beside
// these too.
func (s *Server) ServerOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(s.interceptUnary),
		grpc.ChainStreamInterceptor(s.interceptStream),
	}
}

// Conn returns a client connection to the services inside this process.
func (s *Server) Conn() grpc.ClientConnInterface {
	c := inprocess.New(s.interceptUnary, s.interceptStream)
	s.registerKinds(c)
	return c
}
