// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/api"
)

// makeEmptyDir makes the directory that every user may write to, or those whom the pod
// says, on the medium that the pod asks for. One that is there stays as its containers
// have it.
func (m *Manager) makeEmptyDir(dir string, pod *corev1.Pod, source *corev1.EmptyDirVolumeSource) error {
	like := owned(pod, emptyDirMode(source), groupWrites)
	switch {
	case source.Medium == corev1.StorageMediumMemory:
		return tmpfs.mountAt(dir, like.options()+sizeOption(memorySize(pod, source, m.allocatable())))
	case api.IsHugePagesMedium(source.Medium):
		page, err := pageSize(pod, source.Medium)
		if err != nil {
			return err
		}
		return hugetlbfs.mountAt(dir, fmt.Sprintf("%s,pagesize=%d", like.options(), page)+sizeOption(limitOf(source)))
	}
	return makeDir(dir, like)
}

// emptyDirMode is 0777 unless the pod says otherwise.
func emptyDirMode(source *corev1.EmptyDirVolumeSource) fs.FileMode {
	if source.Mode == nil {
		return 0o777
	}
	mode := fs.FileMode(*source.Mode).Perm()
	if *source.Mode&0o1000 != 0 {
		mode |= fs.ModeSticky
	}
	return mode
}

// makeDir makes a directory that is whole when it is there.
func makeDir(dir string, like dirMode) error {
	if _, err := os.Lstat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o750); err != nil {
		return err
	}
	fresh, err := os.MkdirTemp(filepath.Dir(dir), ".new-")
	if err != nil {
		return err
	}
	if like.gid != nil {
		err = os.Chown(fresh, -1, int(*like.gid))
	}
	if err == nil {
		err = os.Chmod(fresh, like.mode) // whatever the umask is
	}
	if err == nil {
		err = os.Rename(fresh, dir)
	}
	if err != nil {
		return errors.Join(err, os.Remove(fresh))
	}
	return nil
}

// sizeOption bounds a file system; without a size it has the kernel's bound.
func sizeOption(size int64) string {
	if size <= 0 {
		return ""
	}
	return fmt.Sprintf(",size=%d", size)
}

// memorySize is how much an emptyDir in memory can hold: what its limit says, and no
// more than the pod, whose memory it takes, can have at all.
func memorySize(pod *corev1.Pod, source *corev1.EmptyDirVolumeSource, allocatable corev1.ResourceList) int64 {
	size := allocatable.Memory().Value()
	lower := func(to int64) {
		if to > 0 && (size == 0 || to < size) {
			size = to
		}
	}
	if limit, ok := api.PodLimit(pod, corev1.ResourceMemory); ok {
		lower(limit.Value())
	}
	lower(limitOf(source))
	return size
}

// limitOf is the limit of an emptyDir in bytes; 0 if there is none.
func limitOf(source *corev1.EmptyDirVolumeSource) int64 {
	if source.SizeLimit == nil {
		return 0
	}
	return source.SizeLimit.Value()
}
