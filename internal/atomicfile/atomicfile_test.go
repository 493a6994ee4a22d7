// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package atomicfile

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	for _, content := range []string{"first", "second"} {
		if err := Write(path, []byte(content), 0o640); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != content {
			t.Errorf("content %q, %v", got, err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left: %v, %v", entries, err)
	}
}

// A write that fails leaves what was there, and nothing of its own.
func TestWriteThatFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.MkdirAll(filepath.Join(path, "in the way"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, []byte("x"), 0o600); err == nil {
		t.Error("a directory was replaced")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left: %v, %v", entries, err)
	}
	if err := Write(filepath.Join(dir, "absent", "f"), nil, 0o600); err == nil {
		t.Error("a directory that is not there was written to")
	}
}

// What a write that is broken off leaves is known by its name, and no other file is.
func TestPattern(t *testing.T) {
	temp, err := os.CreateTemp(t.TempDir(), Pattern("f"))
	if err != nil {
		t.Fatal(err)
	}
	temp.Close()
	for name, want := range map[string]bool{filepath.Base(temp.Name()): true, "f": false, ".g-1": false} {
		if got, err := filepath.Match(Pattern("f"), name); err != nil || got != want {
			t.Errorf("%s: %t, %v", name, got, err)
		}
	}
}
