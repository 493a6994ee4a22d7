// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// labelled returns the counts and gauges of a family by the value of its only
// label.
func labelled(t *testing.T, g prometheus.Gatherer, name string) map[string]float64 {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, m := range family.GetMetric() {
			got[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return got
}

func TestMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		metrics := prometheus.NewRegistry()
		s, b := startWith(t, metrics)
		b.failures = 1
		s.NodeChanged(readyNode("n1", "2"))
		s.PodChanged(cpuPod("placed", "1"))
		s.PodChanged(cpuPod("large", "3"))
		time.Sleep(5 * retryAfter)
		synctest.Wait()
		attempts := labelled(t, metrics, "berth_scheduler_schedule_attempts_total")
		if attempts[scheduled] != 1 || attempts[failed] != 1 || attempts[unschedulable] < 1 {
			t.Errorf("attempts %v", attempts)
		}
		pending := labelled(t, metrics, "berth_scheduler_pending_pods")
		if pending["active"] != 0 || pending["unschedulable"] != 1 {
			t.Errorf("pending %v", pending)
		}
	})
}
