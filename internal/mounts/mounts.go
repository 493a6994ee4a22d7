// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package mounts takes away what is mounted below a directory, so that the directory
// can be removed and nothing behind a mount with it.
package mounts

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"
)

// Below lists what is mounted at or below dir, innermost and newest first. A directory
// that does not exist has nothing mounted; one that is reached by symbolic links is
// followed to where it is.
func Below(dir string) ([]*mountinfo.Info, error) {
	real, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list, err := mountinfo.GetMounts(mountinfo.PrefixFilter(real))
	if err != nil {
		return nil, fmt.Errorf("list mounts below %s: %w", real, err)
	}
	slices.SortFunc(list, func(a, b *mountinfo.Info) int { return b.ID - a.ID })
	return list, nil
}

// UnmountBelow unmounts everything that Below lists. flags are those of umount2(2),
// such as MNT_DETACH.
func UnmountBelow(dir string, flags int) error {
	list, err := Below(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, m := range list {
		err := unix.Unmount(m.Mountpoint, flags|unix.UMOUNT_NOFOLLOW)
		if err != nil && !errors.Is(err, unix.EINVAL) { // EINVAL: no longer a mount point
			errs = append(errs, fmt.Errorf("unmount %s: %w", m.Mountpoint, err))
		}
	}
	return errors.Join(errs...)
}
