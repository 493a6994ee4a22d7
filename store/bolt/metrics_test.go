// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

func TestMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	s := mustOpen(t, filepath.Join(t.TempDir(), "store.db"), Options{Metrics: registry})
	defer s.Close()
	mustCreate(t, s, "a", "1")
	revision := mustCreate(t, s, "b", "2")
	w, err := s.Watch(context.Background(), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	want := map[string]float64{
		"berth_store_revision":                float64(revision),
		"berth_store_objects":                 2,
		"berth_store_log_events":              2,
		"berth_store_watchers":                1,
		"berth_store_commit_duration_seconds": 2,
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		m := family.GetMetric()[0]
		got := m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		if family.GetName() == "berth_store_file_bytes" {
			if got < 4096 {
				t.Errorf("the file has %v bytes", got)
			}
		} else if got != want[family.GetName()] {
			t.Errorf("%s is %v, want %v", family.GetName(), got, want[family.GetName()])
		}
	}
	if len(families) != len(want)+1 {
		t.Errorf("%d metrics", len(families))
	}
}
