// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/berth-run/berth/agent/volume"
)

func TestLeftoversAreListed(t *testing.T) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(leftovers{func() []volume.Leftover {
		return []volume.Leftover{{UID: "u", Path: "/pods/u/volumes/secret/s", Mounted: []string{"/mnt"}, HeldBy: []string{"7", "8"}}}
	}})
	families, err := registry.Gather()
	if err != nil || len(families) != 1 || len(families[0].GetMetric()) != 1 {
		t.Fatalf("%v, %v", families, err)
	}
	got := map[string]string{}
	for _, label := range families[0].GetMetric()[0].GetLabel() {
		got[label.GetName()] = label.GetValue()
	}
	for name, want := range map[string]string{"uid": "u", "path": "/pods/u/volumes/secret/s", "mounted": "/mnt", "processes": "7,8"} {
		if got[name] != want {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
}
