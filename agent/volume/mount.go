// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
)

// makeEmptyDir makes the directory that every user may write to, in memory where
// the pod asks for it.
func makeEmptyDir(dir string, source *corev1.EmptyDirVolumeSource) error {
	if source.Medium == corev1.StorageMediumMemory {
		options := "mode=0777"
		if source.SizeLimit != nil && source.SizeLimit.Sign() > 0 {
			options += fmt.Sprintf(",size=%d", source.SizeLimit.Value())
		}
		return mountTmpfs(dir, options)
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	return os.Chmod(dir, 0o777) // whatever the umask is
}

// mountTmpfs makes dir a tmpfs unless it is one.
func mountTmpfs(dir, options string) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return fmt.Errorf("statfs %s: %w", dir, err)
	}
	if s.Type == unix.TMPFS_MAGIC && isMountPoint(dir) {
		return nil
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return fmt.Errorf("mount tmpfs at %s: %w", dir, err)
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
