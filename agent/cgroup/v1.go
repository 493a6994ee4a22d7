// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/opencontainers/cgroups"
	cgroupsv1 "github.com/opencontainers/cgroups/fs"
)

// v1 has one hierarchy per controller, or per group of controllers.
type v1 struct {
	// controllers are those that pods' figures need, by name, with their mount.
	controllers map[string]string
	// mounts are all hierarchies: the runtime makes a container's cgroup, and with it
	// the pod's, in each.
	mounts []string
}

func newV1(mount string, log *slog.Logger) (*v1, error) {
	entries, err := os.ReadDir(mount)
	if err != nil {
		return nil, fmt.Errorf("cgroups: %w", err)
	}
	t := &v1{controllers: map[string]string{}}
	for _, e := range entries {
		// A group of controllers is one directory, cpu,cpuacct, with links to it.
		dir := filepath.Join(mount, e.Name())
		if e.IsDir() {
			t.mounts = append(t.mounts, dir)
		}
		if e.Name() == "cpu" || e.Name() == "memory" {
			t.controllers[e.Name()] = dir
		}
	}
	for _, name := range []string{"cpu", "memory"} {
		if t.controllers[name] == "" {
			log.Warn("the kernel has no such cgroup controller: its limits are not enforced", "controller", name)
		}
	}
	return t, nil
}

func (t *v1) create(path string) (created bool, err error) {
	for _, mount := range t.controllers {
		err := os.Mkdir(filepath.Join(mount, path), 0o755)
		switch {
		case err == nil:
			created = true
		case !errors.Is(err, fs.ErrExist):
			return false, fmt.Errorf("cgroup: %w", err)
		}
	}
	return created, nil
}

func (t *v1) set(path string, r *cgroups.Resources) error {
	paths := map[string]string{}
	for name, mount := range t.controllers {
		paths[name] = filepath.Join(mount, path)
	}
	manager, err := cgroupsv1.NewManager(&cgroups.Cgroup{Resources: r}, paths)
	if err != nil {
		return err
	}
	return manager.Set(r)
}

func (t *v1) dirs(path string) []string {
	dirs := make([]string, len(t.mounts))
	for i, mount := range t.mounts {
		dirs[i] = filepath.Join(mount, path)
	}
	return dirs
}

func (t *v1) kill(dir string) error { return killEach(dir) }
