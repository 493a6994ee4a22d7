// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/opencontainers/cgroups"
	corev1 "k8s.io/api/core/v1"
)

// ContainerProcesses lists the processes of a container, which runtimes put into a
// cgroup that is named by its id, below the pod's. One that is gone has none.
func (m *Manager) ContainerProcesses(pod *corev1.Pod, id string) ([]int, error) {
	for _, dir := range m.tree.dirs(path.Join(m.PodPath(pod), id)) {
		pids, err := cgroups.GetAllPids(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("processes of container %s: %w", id, err)
		}
		return pids, nil
	}
	return nil, nil
}
