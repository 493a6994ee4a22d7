// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// metrics by the names that Kubernetes' scheduler has for them.
type metrics struct {
	attempts *prometheus.CounterVec
	duration *prometheus.HistogramVec
}

// The results of an attempt to place a pod.
const (
	scheduled     = "scheduled"
	unschedulable = "unschedulable"
	failed        = "error"
)

func newMetrics(r prometheus.Registerer) metrics {
	auto := promauto.With(r)
	return metrics{
		attempts: auto.NewCounterVec(prometheus.CounterOpts{
			Name: "berth_scheduler_schedule_attempts_total",
			Help: "Attempts to place pods, by result.",
		}, []string{"result"}),
		duration: auto.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "berth_scheduler_scheduling_attempt_duration_seconds",
			Help:    "How long attempts took, from the decision to its commit, by result.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 14), // 0.5 ms to 4 s
		}, []string{"result"}),
	}
}

func (m metrics) observe(result string, took time.Duration) {
	m.attempts.WithLabelValues(result).Inc()
	m.duration.WithLabelValues(result).Observe(took.Seconds())
}

// showPending registers how many pods wait.
func (s *Scheduler) showPending(r prometheus.Registerer) {
	auto := promauto.With(r)
	for queue, pods := range map[string]func() int{
		"active":        func() int { return len(s.queue) },
		"unschedulable": func() int { return len(s.parked) },
	} {
		auto.NewGaugeFunc(prometheus.GaugeOpts{
			Name:        "berth_scheduler_pending_pods",
			Help:        "Pods without a node: about to be placed, or that no node takes now.",
			ConstLabels: prometheus.Labels{"queue": queue},
		}, func() float64 {
			s.mu.Lock()
			defer s.mu.Unlock()
			return float64(pods())
		})
	}
}
