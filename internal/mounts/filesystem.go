// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package mounts

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"
)

// FileSystem tells one mounted file system from all others: the kernel gives the number
// of one that is gone to another, but not the id of one in memory.
type FileSystem struct {
	device uint64
	id     unix.Fsid
}

// FileSystemOf returns what a mount shows, of which nothing is mounted over.
func FileSystemOf(m *mountinfo.Info) (FileSystem, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(m.Mountpoint, &s); err != nil {
		return FileSystem{}, &os.PathError{Op: "statfs", Path: m.Mountpoint, Err: err}
	}
	return FileSystem{unix.Mkdev(uint32(m.Major), uint32(m.Minor)), s.Fsid}, nil
}

// Mounted returns where the file system is mounted.
func (f FileSystem) Mounted() ([]string, error) {
	list, err := mountinfo.GetMounts(func(m *mountinfo.Info) (skip, stop bool) {
		return unix.Mkdev(uint32(m.Major), uint32(m.Minor)) != f.device, false
	})
	if err != nil {
		return nil, fmt.Errorf("list mounts: %w", err)
	}
	var paths []string
	for _, m := range list {
		if f.holds(m.Mountpoint) {
			paths = append(paths, m.Mountpoint)
		}
	}
	return paths, nil
}

// HeldBy returns the processes that have something of the file system open or work in
// it, as far as they let themselves be looked at.
func (f FileSystem) HeldBy() (processes []string) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, process := range all {
		if f.isHeldBy(process) {
			processes = append(processes, filepath.Base(process))
		}
	}
	return processes
}

func (f FileSystem) isHeldBy(process string) bool {
	open, _ := filepath.Glob(filepath.Join(process, "fd", "*"))
	for _, path := range append(open, filepath.Join(process, "cwd"), filepath.Join(process, "root")) {
		info, err := os.Stat(path)
		if err == nil && info.Sys().(*syscall.Stat_t).Dev == f.device && f.holds(path) {
			return true
		}
	}
	return false
}

func (f FileSystem) holds(path string) bool {
	var s unix.Statfs_t
	return unix.Statfs(path, &s) == nil && s.Fsid == f.id
}
