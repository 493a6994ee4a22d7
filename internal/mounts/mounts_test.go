// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package mounts

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestUnmountBelow reaches nested and doubled mounts by a symbolic link, and leaves a
// neighbour whose name begins alike.
func TestUnmountBelow(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounts need root")
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir, neighbour := filepath.Join(base, "dir"), filepath.Join(base, "dir2")
	mount := func(path string) {
		t.Helper()
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mount("tmpfs", path, "tmpfs", 0, ""); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Unmount(path, unix.MNT_DETACH) })
	}
	mount(filepath.Join(dir, "a"))
	mount(filepath.Join(dir, "a"))
	mount(filepath.Join(dir, "a", "b"))
	mount(neighbour)
	link := filepath.Join(base, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}

	if err := UnmountBelow(link, 0); err != nil {
		t.Fatal(err)
	}
	if device(t, filepath.Join(dir, "a")) != device(t, base) {
		t.Error("something is mounted still")
	}
	if device(t, neighbour) == device(t, base) {
		t.Error("the neighbour was unmounted")
	}
	if err := UnmountBelow(filepath.Join(base, "missing"), 0); err != nil {
		t.Errorf("a directory that does not exist: %v", err)
	}
}

func device(t *testing.T, path string) uint64 {
	t.Helper()
	var s unix.Stat_t
	if err := unix.Stat(path, &s); err != nil {
		t.Fatal(err)
	}
	return s.Dev
}
