// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"fmt"
	"testing"
)

// What a pod costs of the runtime grows with its containers and no faster.
func TestAPodOfManyContainers(t *testing.T) {
	const n = 200
	h := newHarness(t)
	pod := testPod()
	for i := range n {
		pod.Spec.Containers = append(pod.Spec.Containers, testContainer(fmt.Sprintf("container-%d", i)))
	}
	const (
		reading = 3 + n // two listings, the sandbox, and each container
		whole   = 2     // a call or two for the sandbox
	)
	for _, step := range []struct {
		name string
		do   func()
		most int
	}{
		{"start", func() { h.mustSync(t, pod) }, reading + whole + 3*n},
		{"nothing to do", func() { h.mustSync(t, pod) }, reading},
		{"stop", func() {
			if err := h.KillPod(t.Context(), pod, h.status(t, pod), 0); err != nil {
				t.Fatal(err)
			}
		}, reading + whole + n},
		{"removal", func() {
			if err := h.RemovePod(t.Context(), pod.UID); err != nil {
				t.Fatal(err)
			}
		}, 2 + whole + n},
	} {
		h.fake.ForgetCalls()
		step.do()
		if got := len(h.fake.Calls()); got > step.most {
			t.Errorf("%s: %d calls, want no more than %d", step.name, got, step.most)
		}
	}
}
