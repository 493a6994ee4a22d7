// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/api"
)

// tellRegistered tells of a Node that was created.
func (n *Nodes) tellRegistered(node api.Object) {
	if n.events == nil {
		return
	}
	n.events.Record(corev1.ObjectReference{
		APIVersion: api.Nodes.GroupVersionKind().GroupVersion().String(), Kind: api.Nodes.Name,
		Name: node.GetName(), UID: node.GetUID(),
	}, corev1.EventTypeNormal, "RegisteredNode", "Registered node "+node.GetName())
}
