// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package prober

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// firstDelay is how long the first try of a probe waits: what is left of its initial
// delay, for a container that has run for that long. One that ran before the agent
// did is one of many that are found at the same time: their first tries are spread
// over the period, by a random number below 1.
func firstDelay(probe *corev1.Probe, ran time.Duration, ranBefore bool, random float64) time.Duration {
	initial := seconds(probe.InitialDelaySeconds)
	delay := min(max(0, initial-ran), initial)
	if ranBefore {
		delay = max(delay, time.Duration(random*float64(seconds(probe.PeriodSeconds))))
	}
	return delay
}

func seconds(n int32) time.Duration { return time.Duration(n) * time.Second }
