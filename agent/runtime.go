// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"cmp"
	"os"
	"path/filepath"

	"github.com/berth-run/berth/agent/containerd"
)

// OwnRuntime returns the containerd that a node of this configuration runs. Of the
// configuration it needs StateDir, RuntimeDir, ClusterCIDR and Logger.
func OwnRuntime(cfg Config) (*containerd.Runtime, error) {
	binDir, err := filepath.Abs(cfg.RuntimeDir)
	if err != nil {
		return nil, err
	}
	return containerd.New(containerd.Config{
		Dir:         containerdDir(cfg.StateDir),
		RunDir:      RunDir(cfg.StateDir),
		BinDir:      binDir,
		NodeID:      NodeID(cfg.StateDir),
		PauseTar:    filepath.Join(binDir, "pause.tar"),
		ImagesDir:   cmp.Or(cfg.ImagesDir, existing(filepath.Join(binDir, "images"))),
		ClusterCIDR: cfg.ClusterCIDR,
		Logger:      cfg.Logger,
	})
}

// existing is the path if there is something, or else empty.
func existing(path string) string {
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}
