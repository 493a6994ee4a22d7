// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
)

// tellReady tells when the node becomes able to run pods, and when it stops being so.
func (n *Node) tellReady(before, now podtypes.RuntimeStatus) {
	was, is := canRunPods(before), canRunPods(now)
	switch {
	case !was && is:
		n.cfg.Events.RecordNode(corev1.EventTypeNormal, "NodeReady", "Node "+n.cfg.Name+" status is now: NodeReady")
	case was && !is:
		n.cfg.Events.RecordNode(corev1.EventTypeWarning, "NodeNotReady", "Node "+n.cfg.Name+" status is now: NodeNotReady: "+now.Message)
	}
}

func canRunPods(status podtypes.RuntimeStatus) bool { return status.Ready && status.NetworkReady }
