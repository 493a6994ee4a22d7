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
	"slices"
	"strings"

	"github.com/opencontainers/cgroups"
	cgroupsv2 "github.com/opencontainers/cgroups/fs2"
)

// v2 has one hierarchy for all controllers. A cgroup has those that its parent hands
// down.
type v2 struct {
	mount string
	// handDown is what is written to a parent's cgroup.subtree_control.
	handDown string
}

func newV2(mount string, log *slog.Logger) (*v2, error) {
	if err := vacate(mount); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(mount, "cgroup.controllers"))
	if err != nil {
		return nil, fmt.Errorf("cgroups: %w", err)
	}
	available := strings.Fields(string(text))
	for _, name := range []string{"cpu", "memory"} {
		if !slices.Contains(available, name) {
			log.Warn("the kernel has no such cgroup controller: its limits are not enforced", "controller", name)
		}
	}
	t := &v2{mount: mount}
	if len(available) > 0 {
		t.handDown = "+" + strings.Join(available, " +")
	}
	return t, nil
}

func (t *v2) ensure(path string, fresh, present *cgroups.Resources) error {
	dir := filepath.Join(t.mount, path)
	t.delegate(filepath.Dir(dir))
	r, err := makeDir(dir, fresh, present)
	if err == nil && r != nil {
		err = t.set(dir, r)
	}
	if err != nil {
		return fmt.Errorf("cgroup: %w", err)
	}
	return nil
}

// delegate has the children of dir get all controllers. A controller that cannot be
// handed down (some never can in a container) must not keep back the others; what is
// then missing shows when a figure is written.
func (t *v2) delegate(dir string) {
	const file = "cgroup.subtree_control"
	if cgroups.WriteFile(dir, file, t.handDown) == nil {
		return
	}
	for one := range strings.FieldsSeq(t.handDown) {
		_ = cgroups.WriteFile(dir, file, one)
	}
}

func (t *v2) set(dir string, r *cgroups.Resources) error {
	manager, err := cgroupsv2.NewManager(&cgroups.Cgroup{Resources: r}, dir)
	if err != nil {
		return err
	}
	return manager.Set(r)
}

func (t *v2) dirs(path string) []string { return []string{filepath.Join(t.mount, path)} }

// kill uses cgroup.kill, of Linux 5.14, which also reaches processes that fork and
// frozen ones.
func (t *v2) kill(dir string) error {
	err := cgroups.WriteFile(dir, "cgroup.kill", "1")
	if err == nil {
		return nil
	}
	if _, gone := os.Stat(dir); errors.Is(gone, fs.ErrNotExist) {
		return nil
	}
	return killEach(dir)
}
