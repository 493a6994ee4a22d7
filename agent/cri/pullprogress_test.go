// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cri

import "testing"

func TestSourceLabel(t *testing.T) {
	for registry, want := range map[string]string{
		"registry.test": "registry.test", "registry.test:5000": "registry.test", "[::1]:5000": "::1", "index.docker.io": "docker.io",
	} {
		if got := sourceLabel(registry); got != "containerd.io/distribution.source."+want {
			t.Errorf("%s: %s", registry, got)
		}
	}
}

func TestPartsOfAManifest(t *testing.T) {
	parts, err := partsOf([]byte(`{"config":{"digest":"c","size":1},"layers":[{"digest":"l","size":2},{"digest":"l","size":2},{"digest":"m","size":3}]}`))
	if err != nil || len(parts) != 3 || parts["c"] != 1 || parts["l"] != 2 || parts["m"] != 3 {
		t.Errorf("%v, %v", parts, err)
	}
	if _, err := partsOf([]byte("{")); err == nil {
		t.Error("no manifest, no error")
	}
}
