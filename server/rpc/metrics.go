// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// metrics of the calls of all services, whether they came over gRPC or REST.
type metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	streams  *prometheus.GaugeVec
}

func newMetrics(r prometheus.Registerer) *metrics {
	auto := promauto.With(r)
	return &metrics{
		requests: auto.NewCounterVec(prometheus.CounterOpts{
			Name: "berth_rpc_requests_total",
			Help: "Finished calls by method and gRPC code.",
		}, []string{"method", "code"}),
		duration: auto.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "berth_rpc_request_duration_seconds",
			Help:    "How long unary calls took.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 14), // 0.5 ms to 4 s
		}, []string{"method"}),
		streams: auto.NewGaugeVec(prometheus.GaugeOpts{
			Name: "berth_rpc_streams",
			Help: "Open streams, such as watches and sessions.",
		}, []string{"method"}),
	}
}
