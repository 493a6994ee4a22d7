// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pleg

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/berth-run/berth/agent/podtypes"
)

func newRelistDuration(r prometheus.Registerer) prometheus.Histogram {
	return promauto.With(r).NewHistogram(prometheus.HistogramOpts{
		Name:    "berth_agent_pleg_relist_duration_seconds",
		Help:    "How long listings of all pods of the runtime took, be it in vain.",
		Buckets: prometheus.DefBuckets,
	})
}

// show registers what is read off the PLEG when somebody asks.
func (p *PLEG) show(r prometheus.Registerer) {
	auto := promauto.With(r)
	auto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "berth_agent_pleg_last_seen_seconds",
		Help: "When the newest listing that succeeded began, in Unix seconds; 0 before the first.",
	}, p.lastSeen)
	auto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "berth_agent_running_pods",
		Help: "Pods with a ready sandbox.",
	}, func() float64 { return float64(p.cache.count(readySandboxes)) })
	auto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "berth_agent_running_containers",
		Help: "Containers that run.",
	}, func() float64 { return float64(p.cache.count(runningContainers)) })
}

func (p *PLEG) lastSeen() float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lastRelist.IsZero() {
		return 0
	}
	return float64(p.lastRelist.UnixMilli()) / 1000
}

// count sums up over the pods that the runtime has.
func (c *cache) count(of func(*podtypes.RuntimePod) int) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.records {
		if r.pod != nil {
			n += of(r.pod)
		}
	}
	return n
}

// readySandboxes is 1 for a pod that has one: an older one is on its way out.
func readySandboxes(pod *podtypes.RuntimePod) int {
	for _, s := range pod.Sandboxes {
		if s.Ready {
			return 1
		}
	}
	return 0
}

func runningContainers(pod *podtypes.RuntimePod) (n int) {
	for _, c := range pod.Containers {
		if c.State == podtypes.ContainerRunning {
			n++
		}
	}
	return n
}
