// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/agent/podworkers"
)

// newMetrics returns the registry behind /metrics, with the figures of the process.
func newMetrics() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// newPodStart returns what is to be told of pods that begin to run.
func newPodStart(r prometheus.Registerer) func(time.Duration) {
	h := promauto.With(r).NewHistogram(prometheus.HistogramOpts{
		Name:    "berth_agent_pod_start_duration_seconds",
		Help:    "From when the node took on a pod until it ran.",
		Buckets: prometheus.ExponentialBuckets(0.1, 2, 13), // 0.1 s to 7 min
	})
	return func(after time.Duration) { h.Observe(after.Seconds()) }
}

// showConnection registers whether there is a session, and when the sync loop last
// came round.
func showConnection(r prometheus.Registerer, connected func() bool, lastLoop func() time.Time) {
	auto := promauto.With(r)
	auto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "berth_agent_session_connected",
		Help: "1 while the server answers in a session, or else 0.",
	}, func() float64 {
		if connected() {
			return 1
		}
		return 0
	})
	auto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "berth_agent_sync_loop_last_seen_seconds",
		Help: "When the sync loop last came round, in Unix seconds; 0 before it began.",
	}, func() float64 {
		if at := lastLoop(); !at.IsZero() {
			return float64(at.UnixMilli()) / 1000
		}
		return 0
	})
}

// timedSyncer times the steps of a pod.
type timedSyncer struct {
	podworkers.Syncer
	took *prometheus.HistogramVec
}

func newTimedSyncer(s podworkers.Syncer, r prometheus.Registerer) podworkers.Syncer {
	return timedSyncer{s, promauto.With(r).NewHistogramVec(prometheus.HistogramOpts{
		Name:    "berth_agent_pod_worker_duration_seconds",
		Help:    "How long one step of a pod's worker took, by what it did.",
		Buckets: prometheus.ExponentialBuckets(0.001, 2.5, 14), // 1 ms to 150 s
	}, []string{"operation_type"})}
}

func (t timedSyncer) time(operation string) (end func()) {
	began := time.Now()
	return func() { t.took.WithLabelValues(operation).Observe(time.Since(began).Seconds()) }
}

func (t timedSyncer) SyncPod(ctx context.Context, kind podtypes.SyncType, pod, mirror *corev1.Pod, status *podtypes.PodStatus) (podtypes.SyncOutcome, error) {
	defer t.time("sync")()
	return t.Syncer.SyncPod(ctx, kind, pod, mirror, status)
}

func (t timedSyncer) SyncTerminatingPod(ctx context.Context, pod *corev1.Pod, status *podtypes.PodStatus, grace *int64, mutate func(*corev1.PodStatus)) error {
	defer t.time("terminating")()
	return t.Syncer.SyncTerminatingPod(ctx, pod, status, grace, mutate)
}

func (t timedSyncer) SyncTerminatedPod(ctx context.Context, pod *corev1.Pod, status *podtypes.PodStatus) error {
	defer t.time("terminated")()
	return t.Syncer.SyncTerminatedPod(ctx, pod, status)
}
