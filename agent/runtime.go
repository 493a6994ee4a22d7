// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"

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

// networkRetry is how long a failed set-up of the network waits.
const networkRetry = time.Second

// network sets up the node's pod range as the server assigns it.
type network struct {
	// set makes the range the node's, in its own CNI configuration or by a message
	// to the runtime.
	set     func(ctx context.Context, podCIDR string) error
	log     *slog.Logger
	assigns chan string
}

func (a *Agent) newNetwork(other func(ctx context.Context, podCIDR string) error) *network {
	n := &network{set: other, log: a.log, assigns: make(chan string, 1)}
	if a.own != nil {
		n.set = func(ctx context.Context, podCIDR string) error {
			prefix, err := netip.ParsePrefix(podCIDR)
			if err != nil {
				return fmt.Errorf("pod range of the node: %w", err)
			}
			return a.own.WriteNetwork(ctx, prefix)
		}
	}
	return n
}

// assign takes the newest range; it never blocks.
func (n *network) assign(node *corev1.Node) {
	if node.Spec.PodCIDR == "" {
		return
	}
	for {
		select {
		case n.assigns <- node.Spec.PodCIDR:
			return
		default:
		}
		select { // the one that waits is older
		case <-n.assigns:
		default:
		}
	}
}

// run sets up each new range until ctx ends.
func (n *network) run(ctx context.Context) error {
	var done, wanted string
	for {
		var retry <-chan time.Time
		if wanted != done {
			if err := n.set(ctx, wanted); err == nil {
				done = wanted
			} else if ctx.Err() == nil {
				n.log.Error("cannot set up the pod network", "range", wanted, "err", err)
				retry = time.After(networkRetry)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case wanted = <-n.assigns:
		case <-retry:
		}
	}
}
