// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"

	"golang.org/x/sys/unix"

	"github.com/berth-run/berth/agent/cri"
	"github.com/berth-run/berth/agent/podruntime"
	"github.com/berth-run/berth/internal/atomicfile"
	"github.com/berth-run/berth/internal/mounts"
	"github.com/berth-run/berth/internal/statedir"
)

// DownConfig says which node is taken down.
type DownConfig struct {
	// StateDir is the node's state directory.
	StateDir string
	// RuntimeEndpoints are the CRI sockets, beside the node's own, that may have pods
	// of it; nil means those that its agents have used.
	RuntimeEndpoints []string
	Logger           *slog.Logger
}

// Down ends a node's pods at once and removes all that its agents took of the machine,
// the state directory last: it can be repeated whenever it was interrupted. It fails
// while an agent runs there, and for a directory that no agent made; one that is
// missing is no error. What others put into the directory stays.
func Down(ctx context.Context, cfg DownConfig) error {
	if err := checkStateDir(cfg.StateDir); err != nil {
		return err
	}
	d, err := statedir.Open(cfg.StateDir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		cfg.Logger.Info("no node is there", "stateDir", cfg.StateDir)
		return nil
	case errors.Is(err, statedir.ErrInUse):
		return fmt.Errorf("state directory %s: its agent runs; stop it first", cfg.StateDir)
	case err != nil:
		return fmt.Errorf("state %w", err)
	}
	defer d.Close()
	mark, err := d.ReadMark(madeByAgent)
	if err != nil {
		return fmt.Errorf("state %w", err)
	}
	if cfg.RuntimeEndpoints == nil {
		cfg.RuntimeEndpoints = mark.RuntimeEndpoints
	}
	// The node's names follow from the path by which its agent knew the directory.
	cfg.StateDir = mark.Path
	if err := cfg.removeNode(ctx); err != nil {
		return err
	}
	return cfg.removeStateDir(d)
}

// removeNode removes what the node has outside of its state directory, and all mounts.
func (c DownConfig) removeNode(ctx context.Context) error {
	for _, endpoint := range c.RuntimeEndpoints {
		if err := removePods(ctx, endpoint, NodeID(c.StateDir)); err != nil {
			return err
		}
	}
	node := Config{StateDir: c.StateDir, Logger: c.Logger}
	own, err := OwnRuntime(node)
	if err != nil {
		return err
	}
	return errors.Join(own.Teardown(ctx), mounts.UnmountBelow(node.podsDir(), unix.MNT_DETACH))
}

// removePods removes the node's pods from a runtime that others use too.
func removePods(ctx context.Context, endpoint, nodeID string) error {
	client, err := cri.Dial(endpoint)
	if err != nil {
		return err
	}
	defer client.Close()
	if err := podruntime.RemoveNode(ctx, client, nodeID); err != nil {
		return fmt.Errorf("runtime %s: %w; if it is gone for good, name with --runtime-endpoint those that are not, or '' for none", endpoint, err)
	}
	return nil
}

func (c DownConfig) removeStateDir(d *statedir.Dir) error {
	kept, err := d.Remove(podsName, logsName, containerdName, storeIDName, atomicfile.Pattern(storeIDName), pulledName)
	if err != nil {
		return fmt.Errorf("state %w", err)
	}
	c.Logger.Info("the node is removed", "id", NodeID(c.StateDir), "stateDir", c.StateDir)
	if len(kept) > 0 {
		c.Logger.Warn("the state directory stays: no agent made all that is in it", "stateDir", d.Path(), "kept", kept)
	}
	return nil
}
