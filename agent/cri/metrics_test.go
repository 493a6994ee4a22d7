// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cri

import (
	"context"
	"errors"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
)

func TestMeasure(t *testing.T) {
	registry := prometheus.NewRegistry()
	measure := Measure(registry)
	away := errors.New("away")
	for _, fails := range []error{nil, away, nil} {
		err := measure(t.Context(), "/runtime.v1.RuntimeService/StopContainer", nil, nil, nil,
			func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error { return fails })
		if !errors.Is(err, fails) {
			t.Errorf("%v became %v", fails, err)
		}
	}
	want := map[string]float64{
		"berth_agent_runtime_operations_total":            3,
		"berth_agent_runtime_operations_errors_total":     1,
		"berth_agent_runtime_operations_duration_seconds": 3,
	}
	families, err := registry.Gather()
	if err != nil || len(families) != len(want) {
		t.Fatalf("%v, %v", families, err)
	}
	for _, family := range families {
		m := family.GetMetric()[0]
		got := m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
		if got != want[family.GetName()] || m.GetLabel()[0].GetValue() != "StopContainer" {
			t.Errorf("%s: %v", family.GetName(), m)
		}
	}
}
