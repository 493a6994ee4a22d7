// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package prober

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
)

// tally counts how often a probe has come to the same in a row.
type tally struct {
	last podtypes.ProbeResult
	run  int32
}

// add counts one more, and returns what the probe says from now on, or ProbeUnknown
// if that is what it has said before. A try that says nothing is not counted.
func (t *tally) add(result podtypes.ProbeResult, probe *corev1.Probe) podtypes.ProbeResult {
	if result == podtypes.ProbeUnknown {
		return podtypes.ProbeUnknown
	}
	if result != t.last {
		t.last, t.run = result, 0
	}
	t.run++
	threshold := probe.SuccessThreshold
	if result == podtypes.ProbeFailure {
		threshold = probe.FailureThreshold
	}
	if t.run < threshold {
		return podtypes.ProbeUnknown
	}
	return result
}
