// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// change makes another pod of a valid one, of which it has the container at hand.
type change func(p *corev1.Pod, c *corev1.Container)

// refused is a change that must have one error, of that field and with those words.
type refused struct {
	change change
	path   string
	words  string
}

func testRefused(t *testing.T, tests map[string]refused) {
	t.Helper()
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			pod := validPod()
			tt.change(pod, &pod.Spec.Containers[0])
			Default(pod)
			errs := ValidateCreate(Pods, pod)
			if len(errs) != 1 || errs[0].Field != tt.path || !strings.Contains(errs[0].Error(), tt.words) {
				t.Errorf("got %v, want one error of %s with %q", errs, tt.path, tt.words)
			}
		})
	}
}

func testAccepted(t *testing.T, tests map[string]change) {
	t.Helper()
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			pod := validPod()
			change(pod, &pod.Spec.Containers[0])
			Default(pod)
			if errs := ValidateCreate(Pods, pod); len(errs) > 0 {
				t.Error(errs.ToAggregate())
			}
		})
	}
}
