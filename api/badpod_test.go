// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// The tests named badpod_* say the whole answer to a wrong value: its path, what kind
// of error it is, the value and the message.

// wrong is a change of a valid pod and the one error that follows.
type wrong struct {
	change change
	want   string
}

func testWrong(t *testing.T, tests map[string]wrong) {
	t.Helper()
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			pod := validPod()
			tt.change(pod, &pod.Spec.Containers[0])
			Default(pod)
			if got := texts(ValidateCreate(Pods, pod)); !slices.Equal(got, []string{tt.want}) {
				t.Errorf("got\n%q, want\n%q", got, tt.want)
			}
		})
	}
}

// inContainer is a change of the container alone.
func inContainer(do func(*corev1.Container)) change {
	return func(_ *corev1.Pod, c *corev1.Container) { do(c) }
}
