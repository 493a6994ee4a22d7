// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/opencontainers/cgroups"
	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// destroyTimeout bounds the wait for killed processes to be gone.
	destroyTimeout = 10 * time.Second

	// The pause between two attempts to remove a cgroup doubles from the first to the last.
	retryFirst = 2 * time.Millisecond
	retryLast  = 200 * time.Millisecond
)

// DestroyPod kills what still runs in the pod's cgroups and removes them, in
// whatever class and hierarchy they are. A pod without cgroups is no error. It
// returns when they are gone, after 10 s, or when the context ends.
func (m *Manager) DestroyPod(ctx context.Context, uid types.UID) error {
	var dirs []string
	for _, class := range m.classPaths() {
		dirs = append(dirs, m.tree.dirs(path.Join(class, podPrefix+string(uid)))...)
	}
	if err := m.destroy(ctx, dirs); err != nil {
		return fmt.Errorf("pod %s: %w", uid, err)
	}
	return nil
}

// Teardown kills every process of the node's pods and removes all its cgroups.
func (m *Manager) Teardown(ctx context.Context) error {
	return m.destroy(ctx, m.tree.dirs(m.root))
}

// destroy kills and removes until all is gone. A process outlives its SIGKILL for a
// moment, and until then its cgroup is busy.
func (m *Manager) destroy(ctx context.Context, dirs []string) error {
	ctx, cancel := context.WithTimeout(ctx, destroyTimeout)
	defer cancel()
	for pause := retryFirst; ; pause = min(2*pause, retryLast) {
		err := m.destroyOnce(dirs)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(pause):
		}
	}
}

func (m *Manager) destroyOnce(dirs []string) error {
	var errs []error
	for _, dir := range dirs {
		if err := removeTree(dir); err != nil {
			errs = append(errs, err, m.tree.kill(dir))
		}
	}
	return errors.Join(errs...)
}

// removeTree removes a cgroup after all below it. One that is not there is no error.
func removeTree(dir string) error {
	children, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cgroup: %w", err)
	}
	for _, child := range children {
		if child.IsDir() {
			if err := removeTree(filepath.Join(dir, child.Name())); err != nil {
				return err
			}
		}
	}
	// Not os.Remove: its second try, to unlink a file, hides why the first failed.
	if err := unix.Rmdir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &fs.PathError{Op: "remove cgroup", Path: dir, Err: err}
	}
	return nil
}

// killEach sends SIGKILL to each process in the cgroup and below it.
func killEach(dir string) error {
	pids, err := cgroups.GetAllPids(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	for _, pid := range pids {
		if pid <= 1 {
			// A process outside our PID namespace shows as 0, which to kill means us.
			continue
		}
		if err := unix.Kill(pid, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
			errs = append(errs, fmt.Errorf("kill process %d: %w", pid, err))
		}
	}
	return errors.Join(errs...)
}
