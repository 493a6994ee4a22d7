// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/opencontainers/cgroups"
	"golang.org/x/sys/unix"
)

// leaf is where the processes of a container's own root cgroup go.
const leaf = "berth-init"

// vacate makes room for pods where the mount is not the machine's root cgroup but a
// container's: version 2 hands no controllers down from a cgroup that has processes,
// the machine's root excepted. They move to a leaf.
func vacate(mount string) error {
	// Only the machine's root has no type.
	if _, err := os.Stat(filepath.Join(mount, "cgroup.type")); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	pids, err := cgroups.GetPids(mount)
	if err != nil || len(pids) == 0 {
		return err
	}
	dir := filepath.Join(mount, leaf)
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("cgroup: %w", err)
	}
	for _, pid := range pids {
		// A process may have ended since.
		if err := cgroups.WriteCgroupProc(dir, pid); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("cgroup: move process %d to %s: %w", pid, dir, err)
		}
	}
	return nil
}
