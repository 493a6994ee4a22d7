// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/api"
)

// makeEmptyDir makes the directory that every user may write to, on the medium that
// the pod asks for.
func (m *Manager) makeEmptyDir(dir string, pod *corev1.Pod, source *corev1.EmptyDirVolumeSource) error {
	switch {
	case source.Medium == corev1.StorageMediumMemory:
		return tmpfs.mountAt(dir, "mode=0777"+sizeOption(memorySize(pod, source, m.allocatable())))
	case api.IsHugePagesMedium(source.Medium):
		page, err := pageSize(pod, source.Medium)
		if err != nil {
			return err
		}
		return hugetlbfs.mountAt(dir, fmt.Sprintf("mode=0777,pagesize=%d", page)+sizeOption(limitOf(source)))
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	return os.Chmod(dir, 0o777) // whatever the umask is
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
