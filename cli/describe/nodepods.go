// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/api"
)

// podsOnNode shows what the pods that have not ended take of what pods may have.
func (p *page) podsOnNode(n *corev1.Node, pods []*corev1.Pod, now time.Time) {
	running := slices.SortedFunc(slices.Values(pods), func(a, b *corev1.Pod) int {
		return strings.Compare(api.FullName(a), api.FullName(b))
	})
	running = slices.DeleteFunc(running, api.IsTerminal)
	have := n.Status.Allocatable
	if len(have) == 0 {
		have = n.Status.Capacity
	}
	requests, limits := corev1.ResourceList{}, corev1.ResourceList{}
	var rows [][]string
	for _, pod := range running {
		r, l := api.PodRequests(pod), api.PodLimits(pod)
		addTo(requests, r)
		addTo(limits, l)
		rows = append(rows, []string{
			pod.Namespace, pod.Name,
			share(r, have, corev1.ResourceCPU), share(l, have, corev1.ResourceCPU),
			share(r, have, corev1.ResourceMemory), share(l, have, corev1.ResourceMemory), age(pod.CreationTimestamp, now),
		})
	}
	p.table(fmt.Sprintf("Non-terminated Pods (%d)", len(rows)),
		[]string{"Namespace", "Name", "CPU Requests", "CPU Limits", "Memory Requests", "Memory Limits", "Age"}, rows)
	p.allocated(have, requests, limits)
}

func (p *page) allocated(have, requests, limits corev1.ResourceList) {
	var rows [][]string
	for _, name := range slices.Sorted(maps.Keys(have)) {
		if name != corev1.ResourcePods {
			rows = append(rows, []string{string(name), share(requests, have, name), share(limits, have, name)})
		}
	}
	p.table("Allocated resources (limits may be more than there is)", []string{"Resource", "Requests", "Limits"}, rows)
}

func addTo(sum, more corev1.ResourceList) {
	for name, q := range more {
		total := sum[name]
		total.Add(q)
		sum[name] = total
	}
}

// share is an amount, and how much it is of what there is.
func share(part, whole corev1.ResourceList, name corev1.ResourceName) string {
	some, all := part[name], whole[name]
	if all.IsZero() {
		return some.String()
	}
	return fmt.Sprintf("%s (%d%%)", some.String(), int64(100*some.AsApproximateFloat64()/all.AsApproximateFloat64()))
}
