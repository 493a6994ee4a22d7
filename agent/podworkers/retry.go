// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podworkers

import (
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// resyncInterval is how often a pod is synced when nothing else asks for it;
	// up to half of it is added at random.
	resyncInterval = 60 * time.Second
	resyncJitter   = 0.5
	// A step that failed is tried again after the first back-off, doubled with
	// each failure in a row up to the longest.
	firstBackOff   = 500 * time.Millisecond
	longestBackOff = 10 * time.Second
)

// backOff returns how long to wait after so many failures in a row.
func backOff(failures int) time.Duration {
	d := firstBackOff
	for ; failures > 1 && d < longestBackOff; failures-- {
		d *= 2
	}
	return min(d, longestBackOff)
}

// resyncAfter returns how long a pod is left alone when it asks for nothing.
func resyncAfter() time.Duration { return wait.Jitter(resyncInterval, resyncJitter) }

// sooner returns the shorter of two waits, where 0 asks for nothing.
func sooner(a, b time.Duration) time.Duration {
	if a <= 0 {
		return b
	}
	if b <= 0 {
		return a
	}
	return min(a, b)
}
