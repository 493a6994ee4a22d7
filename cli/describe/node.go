// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api/table"
)

func (p *page) node(n *corev1.Node, related Related, now time.Time) {
	p.field("Name", n.Name)
	p.field("Roles", table.NodeRoles(n))
	p.labels(n)
	p.field("Created", moment(n.CreationTimestamp, now))
	p.list("Taints", taints(n.Spec.Taints))
	p.field("Unschedulable", n.Spec.Unschedulable)
	p.field("Last Heard Of", heard(related.Lease, now))
	p.nodeConditions(n.Status.Conditions, now)
	p.section("Addresses", func() {
		for _, a := range n.Status.Addresses {
			p.field(string(a.Type), a.Address)
		}
	})
	p.resources("Capacity", n.Status.Capacity)
	p.resources("Allocatable", n.Status.Allocatable)
	p.section("System Info", func() { p.systemInfo(&n.Status.NodeInfo) })
	p.given("PodCIDR", n.Spec.PodCIDR)
	p.podsOnNode(n, related.Pods, now)
}

// heard says when a node has last been heard of. The heartbeats renew its Lease, which
// the server keeps in memory; the times in its conditions stand still.
func heard(l *coordinationv1.Lease, now time.Time) string {
	if l == nil || l.Spec.RenewTime == nil {
		return "not since the server started"
	}
	return moment(metav1.Time(*l.Spec.RenewTime), now)
}

func (p *page) systemInfo(i *corev1.NodeSystemInfo) {
	p.field("Machine ID", i.MachineID)
	p.field("System UUID", i.SystemUUID)
	p.field("Boot ID", i.BootID)
	p.field("Kernel Version", i.KernelVersion)
	p.field("OS Image", i.OSImage)
	p.field("Operating System", i.OperatingSystem)
	p.field("Architecture", i.Architecture)
	p.field("Container Runtime Version", i.ContainerRuntimeVersion)
	p.field("Agent Version", i.KubeletVersion)
}

func (p *page) nodeConditions(conditions []corev1.NodeCondition, now time.Time) {
	var rows [][]string
	for _, c := range conditions {
		rows = append(rows, []string{
			string(c.Type), string(c.Status), age(c.LastTransitionTime, now), reasons(c.Reason, c.Message),
		})
	}
	p.table("Conditions", []string{"Type", "Status", "Since", "Reason"}, rows)
}

func taints(list []corev1.Taint) []string {
	var out []string
	for _, t := range list {
		text := t.Key
		if t.Value != "" {
			text += "=" + t.Value
		}
		out = append(out, fmt.Sprintf("%s:%s", text, t.Effect))
	}
	return out
}
