// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// memFS is a file system in memory.
type memFS struct {
	kind  string
	magic int64
}

var (
	tmpfs     = memFS{"tmpfs", unix.TMPFS_MAGIC}
	hugetlbfs = memFS{"hugetlbfs", unix.HUGETLBFS_MAGIC}
)

// mountAt makes dir a file system of that kind unless it is one.
func (fs memFS) mountAt(dir, options string) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return fmt.Errorf("statfs %s: %w", dir, err)
	}
	if s.Type == fs.magic && isMountPoint(dir) {
		return nil
	}
	if err := unix.Mount(fs.kind, dir, fs.kind, unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return fmt.Errorf("mount %s at %s: %w", fs.kind, dir, err)
	}
	return nil
}

// isMountPoint compares devices, which tells for every mount but a bind mount of
// the same file system.
func isMountPoint(dir string) bool {
	var here, above unix.Stat_t
	if unix.Stat(dir, &here) != nil || unix.Stat(filepath.Dir(dir), &above) != nil {
		return false
	}
	return here.Dev != above.Dev
}
