// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestStartedAfter(t *testing.T) {
	now := time.Unix(1000, 0)
	taken := metav1.NewTime(now.Add(-3 * time.Second))
	status := func(phase corev1.PodPhase, start *metav1.Time) *corev1.PodStatus {
		return &corev1.PodStatus{Phase: phase, StartTime: start}
	}
	ahead := metav1.NewTime(now.Add(time.Second))
	for name, test := range map[string]struct {
		before, now *corev1.PodStatus
		after       time.Duration
		begins      bool
	}{
		"begins to run":      {status(corev1.PodPending, nil), status(corev1.PodRunning, &taken), 3 * time.Second, true},
		"runs on":            {status(corev1.PodRunning, &taken), status(corev1.PodRunning, &taken), 0, false},
		"does not run yet":   {status(corev1.PodPending, nil), status(corev1.PodPending, &taken), 0, false},
		"ended":              {status(corev1.PodRunning, &taken), status(corev1.PodSucceeded, &taken), 0, false},
		"when, nobody knows": {status(corev1.PodPending, nil), status(corev1.PodRunning, nil), 0, false},
		"by a clock ahead":   {status(corev1.PodPending, nil), status(corev1.PodRunning, &ahead), 0, true},
	} {
		if after, begins := startedAfter(test.before, test.now, now); after != test.after || begins != test.begins {
			t.Errorf("%s: %v, %v", name, after, begins)
		}
	}
}
