// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
)

func TestRemoveOrphanLogs(t *testing.T) {
	r := &Runtime{cfg: Config{LogDir: filepath.Join(t.TempDir(), "pods")}}
	if err := r.RemoveOrphanLogs(nil); err != nil {
		t.Errorf("before there are any: %v", err)
	}
	for _, dir := range []string{"default_web_u1", "default_web_u2", "kept-by-someone"} {
		if err := os.MkdirAll(filepath.Join(r.cfg.LogDir, dir, "c"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.RemoveOrphanLogs(sets.New[types.UID]("u1")); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(r.cfg.LogDir)
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if want := []string{"default_web_u1", "kept-by-someone"}; err != nil || !slices.Equal(left, want) {
		t.Errorf("left are %v, %v; want %v", left, err, want)
	}
}
