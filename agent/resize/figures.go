// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/berth-run/berth/agent/podtypes"
)

// Figures are what a container's cgroup is to have. A limit that the container has
// not itself is that of the pod, if that has one.
func Figures(pod *corev1.Pod, c *corev1.Container) podtypes.ContainerResources {
	r := podtypes.ContainerResources{
		CPUShares:   shares(c),
		CPUPeriod:   podtypes.CPUPeriod,
		MemoryLimit: limit(pod, c, corev1.ResourceMemory).Value(),
	}
	if cpu := limit(pod, c, corev1.ResourceCPU).MilliValue(); cpu > 0 {
		r.CPUQuota = podtypes.CPUQuota(cpu)
	}
	return r
}

// shares follow the request, or the limit where there is no request.
func shares(c *corev1.Container) int64 {
	cpu, ok := c.Resources.Requests[corev1.ResourceCPU]
	if !ok {
		cpu = c.Resources.Limits[corev1.ResourceCPU]
	}
	return podtypes.CPUShares(cpu.MilliValue())
}

func limit(pod *corev1.Pod, c *corev1.Container, name corev1.ResourceName) *resource.Quantity {
	q := c.Resources.Limits[name]
	if r := pod.Spec.Resources; q.IsZero() && r != nil {
		q = r.Limits[name]
	}
	return &q
}

// Actual returns the resources that a container has, in the terms of a manifest:
// those allocated to it where its cgroup has the figures for them, and else what the
// figures mean. A memory request has none.
func Actual(pod *corev1.Pod, c *corev1.Container, have *podtypes.ContainerResources) corev1.ResourceRequirements {
	actual := *c.Resources.DeepCopy()
	if have == nil {
		return actual
	}
	want := Figures(pod, c)
	if have.CPUShares != want.CPUShares {
		replace(actual.Requests, corev1.ResourceCPU, milli(podtypes.SharesMilliCPU(have.CPUShares)))
	}
	if !sameQuota(have, &want) {
		replace(actual.Limits, corev1.ResourceCPU, milli(have.LimitMilliCPU()))
	}
	if have.MemoryLimit != want.MemoryLimit {
		replace(actual.Limits, corev1.ResourceMemory, bytes(have.MemoryLimit))
	}
	return actual
}

// replace sets what the list names already, or removes it if the container has none.
func replace(list corev1.ResourceList, name corev1.ResourceName, q *resource.Quantity) {
	switch _, ok := list[name]; {
	case !ok:
	case q.IsZero():
		delete(list, name)
	default:
		list[name] = *q
	}
}

func sameQuota(a, b *podtypes.ContainerResources) bool {
	return a.LimitMilliCPU() == b.LimitMilliCPU()
}

func milli(n int64) *resource.Quantity { return resource.NewMilliQuantity(n, resource.DecimalSI) }

func bytes(n int64) *resource.Quantity { return resource.NewQuantity(n, resource.BinarySI) }
