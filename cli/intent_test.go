// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/api"
)

func TestChanges(t *testing.T) {
	pod := func(version, image string, phase corev1.PodPhase) *corev1.Pod {
		p := played("")
		p.UID, p.ResourceVersion, p.Status.Phase = "u", version, phase
		p.Spec.Containers = []corev1.Container{{Image: image}}
		return p
	}
	other := pod("1", "a", "")
	other.UID = "other"
	for name, tc := range map[string]struct {
		before, after api.Object
		want          string
	}{
		"new":                 {nil, pod("1", "a", ""), "created"},
		"another of the name": {other, pod("1", "a", ""), "created"},
		"image":               {pod("1", "a", ""), pod("2", "b", ""), "configured"},
		"nothing":             {pod("1", "a", ""), pod("1", "a", ""), "unchanged"},
		"only what nodes say": {pod("1", "a", "Pending"), pod("2", "a", "Running"), "unchanged"},
	} {
		if got, err := changeOf(api.Pods, tc.before, tc.after); got != tc.want || err != nil {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}

func TestMaskShowsWhichValuesDiffer(t *testing.T) {
	content := func(data map[string][]byte) map[string]any {
		out, err := intentOf(api.Secrets, &corev1.Secret{Data: data})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	before := content(map[string][]byte{"same": []byte("1"), "differs": []byte("2"), "goes": []byte("3")})
	after := content(map[string][]byte{"same": []byte("1"), "differs": []byte("4"), "comes": []byte("5")})
	mask(before, after)
	if diff := cmp.Diff(map[string]any{"same": "***", "differs": "*** (before)", "goes": "***"}, before["data"]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]any{"same": "***", "differs": "*** (after)", "comes": "***"}, after["data"]); diff != "" {
		t.Error(diff)
	}
	alone := content(map[string][]byte{"k": []byte("1")})
	mask(nil, alone)
	if diff := cmp.Diff(map[string]any{"k": "***"}, alone["data"]); diff != "" {
		t.Error(diff)
	}
}
