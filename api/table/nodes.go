// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/api"
)

var nodes = layout{
	columns: wide(columns("Name", "Status", "Roles", "Age", "Version"),
		"Internal-IP", "External-IP", "OS-Image", "Kernel-Version", "Container-Runtime"),
	cells: func(obj api.Object, now time.Time) []any {
		n := obj.(*corev1.Node)
		info := n.Status.NodeInfo
		return []any{
			n.Name, nodeStatus(n), NodeRoles(n), age(n.CreationTimestamp, now), info.KubeletVersion,
			address(n, corev1.NodeInternalIP), address(n, corev1.NodeExternalIP),
			info.OSImage, info.KernelVersion, info.ContainerRuntimeVersion,
		}
	},
}

func nodeStatus(n *corev1.Node) string {
	status := "NotReady"
	switch c := api.NodeCondition(&n.Status, corev1.NodeReady); {
	case c == nil:
		status = "Unknown"
	case c.Status == corev1.ConditionTrue:
		status = "Ready"
	}
	if n.Spec.Unschedulable {
		status += ",SchedulingDisabled"
	}
	return status
}

const roleLabel = "node-role.kubernetes.io/"

// NodeRoles are those that the node's labels name.
func NodeRoles(n *corev1.Node) string {
	var roles []string
	for label := range n.Labels {
		if role, ok := strings.CutPrefix(label, roleLabel); ok && role != "" {
			roles = append(roles, role)
		}
	}
	slices.Sort(roles)
	return orNone(strings.Join(roles, ","))
}

func address(n *corev1.Node, t corev1.NodeAddressType) string {
	for _, a := range n.Status.Addresses {
		if a.Type == t {
			return a.Address
		}
	}
	return "<none>"
}
