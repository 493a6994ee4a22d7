// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pleg

import (
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/berth-run/berth/agent/podtypes"
)

func TestMetrics(t *testing.T) {
	r := prometheus.NewRegistry()
	p := New(nil, Options{Metrics: r})
	began := time.Now()
	p.noteRelist(began, nil)
	p.noteRelist(began.Add(time.Hour), errors.New("away"))
	p.cache.compare([]*podtypes.RuntimePod{
		{
			UID:       "runs",
			Sandboxes: []podtypes.Sandbox{{ID: "new", Ready: true}, {ID: "old", Ready: true}},
			Containers: []podtypes.Container{
				{ID: "a", State: podtypes.ContainerRunning}, {ID: "b", State: podtypes.ContainerExited}, {ID: "c", State: podtypes.ContainerRunning},
			},
		},
		{UID: "ended", Sandboxes: []podtypes.Sandbox{{ID: "s"}}, Containers: []podtypes.Container{{ID: "d", State: podtypes.ContainerExited}}},
	}, began)
	want := map[string]float64{
		"berth_agent_running_pods":                 1,
		"berth_agent_running_containers":           2,
		"berth_agent_pleg_last_seen_seconds":       float64(began.UnixMilli()) / 1000,
		"berth_agent_pleg_relist_duration_seconds": 2,
	}
	families, err := r.Gather()
	if err != nil || len(families) != len(want) {
		t.Fatalf("%v, %v", families, err)
	}
	for _, family := range families {
		m := family.GetMetric()[0]
		if got := m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount()); got != want[family.GetName()] {
			t.Errorf("%s is %v, want %v", family.GetName(), got, want[family.GetName()])
		}
	}
}
