// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/opencontainers/cgroups"
	cgroupsv1 "github.com/opencontainers/cgroups/fs"
)

// v1 has one hierarchy per controller, or per group of controllers.
type v1 struct {
	// controllers are those that pods' figures need and the kernel has.
	controllers []controller
	// mounts are all hierarchies: the runtime makes a container's cgroup, and with it
	// the pod's, in each.
	mounts []string
}

// controller is one controller's hierarchy and its way to write figures.
type controller struct {
	mount string
	set   func(dir string, r *cgroups.Resources) error
}

func newV1(mount string, log *slog.Logger) (*v1, error) {
	entries, err := os.ReadDir(mount)
	if err != nil {
		return nil, fmt.Errorf("cgroups: %w", err)
	}
	t := &v1{}
	for _, e := range entries {
		// A group of controllers is one directory, cpu,cpuacct, with links to it.
		if e.IsDir() {
			t.mounts = append(t.mounts, filepath.Join(mount, e.Name()))
		}
	}
	t.add(mount, "cpu", new(cgroupsv1.CpuGroup).Set, log)
	t.add(mount, "memory", new(cgroupsv1.MemoryGroup).Set, log)
	return t, nil
}

func (t *v1) add(mount, name string, set func(string, *cgroups.Resources) error, log *slog.Logger) {
	dir := filepath.Join(mount, name)
	if _, err := os.Stat(dir); err != nil {
		log.Warn("the kernel has no such cgroup controller: its limits are not enforced", "controller", name)
		return
	}
	t.controllers = append(t.controllers, controller{dir, set})
}

func (t *v1) ensure(path string, fresh, present *cgroups.Resources) error {
	for _, c := range t.controllers {
		if err := c.ensure(path, fresh, present); err != nil {
			return err
		}
	}
	return nil
}

func (c controller) ensure(path string, fresh, present *cgroups.Resources) error {
	dir := filepath.Join(c.mount, path)
	r, err := makeDir(dir, fresh, present)
	if err == nil && r != nil {
		err = c.set(dir, r)
	}
	if err != nil {
		return fmt.Errorf("cgroup: %w", err)
	}
	return nil
}

func (t *v1) dirs(path string) []string {
	dirs := make([]string, len(t.mounts))
	for i, mount := range t.mounts {
		dirs[i] = filepath.Join(mount, path)
	}
	return dirs
}

func (t *v1) kill(dir string) error { return killEach(dir) }
