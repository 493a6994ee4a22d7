// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package fit

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/api"
)

// Usage is what the pods of one node take of it, resizes under way included. The zero value is an empty
// node's. It is not safe for concurrent use.
type Usage struct {
	requests corev1.ResourceList
	pods     int
	ports    map[hostPort]holder
}

type holder struct {
	uid  types.UID
	name string
}

// UsageOf adds up the pods that have not ended.
func UsageOf(pods []*corev1.Pod) *Usage {
	u := &Usage{}
	for _, p := range pods {
		if !api.IsTerminal(p) {
			u.Add(p)
		}
	}
	return u
}

// Add counts a pod.
func (u *Usage) Add(pod *corev1.Pod) {
	if u.requests == nil {
		u.requests, u.ports = corev1.ResourceList{}, map[hostPort]holder{}
	}
	u.pods++
	for name, q := range api.PodReserved(pod) {
		sum := u.requests[name]
		sum.Add(q)
		u.requests[name] = sum
	}
	for _, p := range hostPorts(pod) {
		u.ports[p] = holder{pod.UID, api.FullName(pod)}
	}
}

// Remove takes a pod back that Add counted, as it was then.
func (u *Usage) Remove(pod *corev1.Pod) {
	u.pods--
	for name, q := range api.PodReserved(pod) {
		sum := u.requests[name]
		sum.Sub(q)
		u.requests[name] = sum
	}
	for _, p := range hostPorts(pod) {
		if u.ports[p].uid == pod.UID {
			delete(u.ports, p)
		}
	}
}

// Pods returns how many pods are counted.
func (u *Usage) Pods() int { return u.pods }

// Requested returns the sum of the pods' requests of one resource, in its milli
// unit.
func (u *Usage) Requested(name corev1.ResourceName) int64 {
	q := u.requests[name]
	return q.MilliValue()
}

// hostPort is a port of the node that a container takes.
type hostPort struct {
	ip       string
	protocol corev1.Protocol
	port     int32
}

func (p hostPort) String() string { return fmt.Sprintf("%d/%s", p.port, p.protocol) }

// anyIP is how an unset host address counts: it clashes with every other.
const anyIP = "0.0.0.0"

func hostPorts(pod *corev1.Pod) []hostPort {
	var out []hostPort
	for _, c := range api.LongRunning(&pod.Spec) {
		for _, p := range c.Ports {
			if p.HostPort > 0 {
				out = append(out, hostPort{
					ip:       cmp.Or(p.HostIP, anyIP),
					protocol: cmp.Or(p.Protocol, corev1.ProtocolTCP),
					port:     p.HostPort,
				})
			}
		}
	}
	return out
}

// portHolder returns the pod that keeps others from taking p.
func (u *Usage) portHolder(p hostPort) (string, bool) {
	for have, h := range u.ports {
		sameIP := have.ip == p.ip || have.ip == anyIP || p.ip == anyIP
		if sameIP && have.port == p.port && have.protocol == p.protocol {
			return h.name, true
		}
	}
	return "", false
}

func sortedNames(list corev1.ResourceList) []corev1.ResourceName {
	names := make([]corev1.ResourceName, 0, len(list))
	for name := range list {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
