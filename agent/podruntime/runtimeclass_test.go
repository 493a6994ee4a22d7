// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"testing"

	nodev1 "k8s.io/api/node/v1"
	"k8s.io/utils/ptr"
)

func TestHandlerOfTheRuntimeClass(t *testing.T) {
	h := newHarness(t)
	h.objects["vm"] = &nodev1.RuntimeClass{Handler: "kata"}
	for name, tt := range map[string]struct {
		class *string
		want  string
		fails bool
	}{
		"no class":         {nil, "", false},
		"a class":          {ptr.To("vm"), "kata", false},
		"an unknown class": {ptr.To("absent"), "", true},
	} {
		pod := testPod("web")
		pod.Spec.RuntimeClassName = tt.class
		got, err := h.handler(pod)
		if got != tt.want || (err != nil) != tt.fails {
			t.Errorf("%s: handler %q, %v; want %q", name, got, err, tt.want)
		}
	}
}
