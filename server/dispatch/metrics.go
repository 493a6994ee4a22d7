// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	nodepb "github.com/berth-run/berth/proto/berth/node/v1"
)

func newSentPods(r prometheus.Registerer) *prometheus.CounterVec {
	return promauto.With(r).NewCounterVec(prometheus.CounterOpts{
		Name: "berth_dispatch_pods_sent_total",
		Help: "Pods that agents were told of, by operation.",
	}, []string{"operation"})
}

func (d *Dispatcher) showSessions(r prometheus.Registerer) {
	promauto.With(r).NewGaugeFunc(prometheus.GaugeOpts{
		Name: "berth_dispatch_sessions",
		Help: "Agents that are connected.",
	}, func() float64 { return float64(len(d.sessions.nodes())) })
}

func (d *Dispatcher) countSent(u *nodepb.PodUpdate) {
	d.sent.WithLabelValues(u.GetOp().String()).Add(float64(len(u.GetPods())))
}
