// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/node"
	"github.com/berth-run/berth/agent/podtypes"
)

const (
	// networkRetry is how long a failed set-up of the network waits.
	networkRetry = time.Second

	// networkRepair is the least time between the set-up of the network and the next
	// one for a runtime that still has none: it takes a moment to notice the first.
	networkRepair = 5 * time.Second

	// networkCheck is how often what was set up is looked at. Others change the
	// machine's packet filter, and nothing tells of it.
	networkCheck = 30 * time.Second
)

// network sets up the node's pod range as the server assigns it.
type network struct {
	// set makes the range the node's, in its own CNI configuration or by a message
	// to the runtime.
	set func(ctx context.Context, podCIDR string) error
	// own is whether the node made its network, and so has to keep it.
	own     bool
	log     *slog.Logger
	assigns chan string
	lost    chan struct{}
}

func (a *Agent) newNetwork(other func(ctx context.Context, podCIDR string) error) *network {
	n := &network{set: other, log: a.log, assigns: make(chan string, 1), lost: make(chan struct{}, 1)}
	if a.own != nil {
		n.own = true
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

// watched is a runtime whose answers tell the network of its loss.
type watched struct {
	node.Runtime
	network *network
}

func (w watched) Status(ctx context.Context) (podtypes.RuntimeStatus, error) {
	status, err := w.Runtime.Status(ctx)
	if err == nil && !status.NetworkReady {
		select {
		case w.network.lost <- struct{}{}:
		default:
		}
	}
	return status, err
}

// run sets up each new range until ctx ends, and the node's own network again whenever
// the runtime says that it has none, and now and then: what is right is left alone.
func (n *network) run(ctx context.Context) error {
	var wanted string
	var set time.Time
	var next <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case cidr := <-n.assigns:
			if cidr == wanted {
				continue
			}
			wanted = cidr
		case <-n.lost:
			if !n.own || wanted == "" || time.Since(set) < networkRepair {
				continue
			}
			n.log.Warn("the runtime has no pod network; setting it up again", "range", wanted)
		case <-next:
		}
		next = n.setUp(ctx, wanted)
		set = time.Now()
	}
}

// setUp sets up the range, and says when to do it again; nil: never.
func (n *network) setUp(ctx context.Context, podCIDR string) (again <-chan time.Time) {
	err := n.set(ctx, podCIDR)
	switch {
	case err != nil && ctx.Err() == nil:
		n.log.Error("cannot set up the pod network", "range", podCIDR, "err", err)
		return time.After(networkRetry)
	case n.own:
		return time.After(networkCheck)
	}
	return nil
}
