// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"github.com/opencontainers/cgroups"
	corev1 "k8s.io/api/core/v1"
)

// EnsurePod makes the pod's cgroup, or brings the figures of an existing one up to
// the pod's present resources. What is above it may have been removed by hand since
// it was made, and is made again.
func (m *Manager) EnsurePod(pod *corev1.Pod) error {
	err := m.ensurePod(pod)
	if errors.Is(err, fs.ErrNotExist) {
		if err = m.Setup(); err == nil {
			err = m.ensurePod(pod)
		}
	}
	if err != nil {
		return fmt.Errorf("pod %s: %w", pod.UID, err)
	}
	return nil
}

func (m *Manager) ensurePod(pod *corev1.Pod) error {
	present := podResources(pod)
	fresh := present
	omitDefaults(&fresh)
	return m.tree.ensure(m.PodPath(pod), &fresh, &present)
}

// omitDefaults drops what a new cgroup has anyway: each file costs time on the way
// to the pod's start.
func omitDefaults(r *cgroups.Resources) {
	if r.CpuQuota == unlimited {
		r.CpuQuota, r.CpuPeriod = 0, 0
	}
	if r.Memory == unlimited {
		r.Memory = 0
	}
}

// UpdateQOS gives the Burstable class the shares of the given pods, which are all
// that are to run.
func (m *Manager) UpdateQOS(pods []*corev1.Pod) error {
	m.mu.Lock()
	m.burstable = burstableResources(pods).CpuShares
	m.mu.Unlock()
	return m.Setup()
}

// Setup makes the cgroups above the pods' or, where they are, gives them
// their figures.
func (m *Manager) Setup() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	machine := sharesOnly(sharesOf(int64(runtime.NumCPU()) * 1000))
	least := sharesOnly(sharesOf(0))
	// After a restart the class has the shares of pods that run: they stay until it is
	// known which pods those are.
	burstable, present := least, (*cgroups.Resources)(nil)
	if m.burstable != 0 {
		burstable = sharesOnly(m.burstable)
		present = &burstable
	}
	for _, group := range []struct {
		path           string
		fresh, present *cgroups.Resources
	}{
		{m.root, &machine, &machine},
		{m.classPath(corev1.PodQOSBurstable), &burstable, present},
		{m.classPath(corev1.PodQOSBestEffort), &least, &least},
	} {
		if err := m.tree.ensure(group.path, group.fresh, group.present); err != nil {
			return err
		}
	}
	return nil
}

// makeDir makes a cgroup's directory and returns which figures are to be written.
func makeDir(dir string, fresh, present *cgroups.Resources) (*cgroups.Resources, error) {
	err := os.Mkdir(dir, 0o755)
	if errors.Is(err, fs.ErrExist) {
		return present, nil
	}
	return fresh, err
}
