// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// lock keeps a second supervisor, and a teardown, away from the same directories.
func (r *Runtime) lock() (unlock func(), err error) {
	if err := os.MkdirAll(r.cfg.RunDir, 0o711); err != nil {
		return nil, fmt.Errorf("containerd: %w", err)
	}
	path := filepath.Join(r.cfg.RunDir, "supervisor.lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("containerd: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("containerd: another agent runs node %s (it holds %s)", r.cfg.NodeID, path)
		}
		return nil, fmt.Errorf("containerd: lock %s: %w", path, err)
	}
	return func() { f.Close() }, nil
}
