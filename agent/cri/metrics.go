// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cri

import (
	"context"
	"path"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"google.golang.org/grpc"
)

// Measure returns an interceptor for Dial that counts and times the calls of a
// runtime, by the names that the kubelet has for it.
func Measure(r prometheus.Registerer) grpc.UnaryClientInterceptor {
	auto := promauto.With(r)
	labels := []string{"operation_type"}
	operations := auto.NewCounterVec(prometheus.CounterOpts{
		Name: "berth_agent_runtime_operations_total",
		Help: "Calls of the container runtime, by the method of CRI.",
	}, labels)
	failures := auto.NewCounterVec(prometheus.CounterOpts{
		Name: "berth_agent_runtime_operations_errors_total",
		Help: "Calls of the container runtime that failed, by the method of CRI.",
	}, labels)
	duration := auto.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "berth_agent_runtime_operations_duration_seconds",
		Help:    "How long calls of the container runtime took, by the method of CRI.",
		Buckets: prometheus.ExponentialBuckets(0.001, 2.5, 14), // 1 ms to 150 s
	}, labels)
	return func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		operation, began := path.Base(method), time.Now()
		err := invoke(ctx, method, req, reply, cc, opts...)
		operations.WithLabelValues(operation).Inc()
		duration.WithLabelValues(operation).Observe(time.Since(began).Seconds())
		if err != nil {
			failures.WithLabelValues(operation).Inc()
		}
		return err
	}
}
