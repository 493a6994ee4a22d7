// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func TestRecursiveReadOnly(t *testing.T) {
	can := []corev1.NodeRuntimeHandler{
		{Name: "old", Features: &corev1.NodeRuntimeHandlerFeatures{RecursiveReadOnlyMounts: ptr.To(false)}},
		{Name: "", Features: &corev1.NodeRuntimeHandlerFeatures{RecursiveReadOnlyMounts: ptr.To(true)}},
	}
	for name, tc := range map[string]struct {
		mode     *corev1.RecursiveReadOnlyMode
		handlers []corev1.NodeRuntimeHandler
		want     bool
		fails    bool
	}{
		"not asked for":         {nil, can, false, false},
		"disabled":              {ptr.To(corev1.RecursiveReadOnlyDisabled), can, false, false},
		"enabled":               {ptr.To(corev1.RecursiveReadOnlyEnabled), can, true, false},
		"if possible":           {ptr.To(corev1.RecursiveReadOnlyIfPossible), can, true, false},
		"enabled, not able":     {ptr.To(corev1.RecursiveReadOnlyEnabled), can[:1], false, true},
		"if possible, not able": {ptr.To(corev1.RecursiveReadOnlyIfPossible), nil, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := recursiveReadOnly(&corev1.VolumeMount{Name: "v", RecursiveReadOnly: tc.mode}, readOnlyRecursively(tc.handlers, defaultHandler))
			if got != tc.want || (err != nil) != tc.fails {
				t.Errorf("%t, %v", got, err)
			}
		})
	}
}
