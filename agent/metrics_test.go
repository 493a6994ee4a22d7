// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/agent/podworkers"
)

// idleSyncer has nothing to do.
type idleSyncer struct{ podworkers.Syncer }

func (idleSyncer) SyncPod(context.Context, podtypes.SyncType, *corev1.Pod, *corev1.Pod, *podtypes.PodStatus) (podtypes.SyncOutcome, error) {
	return podtypes.SyncOutcome{}, nil
}

func (idleSyncer) SyncTerminatedPod(context.Context, *corev1.Pod, *podtypes.PodStatus) error {
	return nil
}

func TestMetrics(t *testing.T) {
	r := prometheus.NewRegistry()
	syncer := newTimedSyncer(idleSyncer{}, r)
	if _, err := syncer.SyncPod(t.Context(), podtypes.SyncUpdate, nil, nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := syncer.SyncTerminatedPod(t.Context(), nil, nil); err != nil {
		t.Fatal(err)
	}
	newPodStart(r)(2 * time.Second)
	showConnection(r, func() bool { return true }, func() time.Time { return time.Unix(1500, 0) })

	want := map[string]float64{
		"berth_agent_pod_worker_duration_seconds sync":       1,
		"berth_agent_pod_worker_duration_seconds terminated": 1,
		"berth_agent_pod_start_duration_seconds":             1,
		"berth_agent_session_connected":                      1,
		"berth_agent_sync_loop_last_seen_seconds":            1500,
	}
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			name := family.GetName()
			for _, label := range m.GetLabel() {
				name += " " + label.GetValue()
			}
			if got := m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount()); got != want[name] {
				t.Errorf("%s is %v, want %v", name, got, want[name])
			}
			delete(want, name)
		}
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}
