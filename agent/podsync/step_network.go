// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podsync

import (
	"context"
	"fmt"
)

// awaitNetwork holds back a pod that needs a sandbox network while the node has
// none to give. One whose sandbox stands has its network already.
func (p *podSync) awaitNetwork(context.Context) error {
	sandbox := p.read.Current()
	if p.pod.Spec.HostNetwork || sandbox != nil && sandbox.Ready {
		return nil
	}
	if err := p.Network.NetworkReady(); err != nil {
		p.warn(p.pod, "NetworkNotReady", "network is not ready: "+err.Error())
		return fmt.Errorf("network is not ready: %w", err)
	}
	return nil
}
