// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"
)

func TestMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		metrics := prometheus.NewRegistry()
		w := newWorldWith(t, nil, metrics)
		w.createPod(newPod("a", "n1"))
		agent, _ := w.connect("n1")
		w.createPod(newPod("b", "n1"))
		agent.expect("ADD b")
		want := map[string]float64{"berth_dispatch_sessions": 1, "berth_dispatch_pods_sent_total": 2}
		families, err := metrics.Gather()
		if err != nil || len(families) != len(want) {
			t.Fatalf("%v, %v", families, err)
		}
		for _, family := range families {
			m := family.GetMetric()[0]
			if got := m.GetGauge().GetValue() + m.GetCounter().GetValue(); got != want[family.GetName()] {
				t.Errorf("%s is %v, want %v", family.GetName(), got, want[family.GetName()])
			}
		}
	})
}
