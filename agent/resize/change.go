// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/api"
)

// Change is what is between the actual and the allocated resources of a container.
type Change struct {
	Spec      *corev1.Container
	Container *podtypes.ContainerStatus
	// Want are the figures that the container is to have.
	Want        podtypes.ContainerResources
	CPU, Memory bool
}

// Changes returns the running containers of the pod whose resources are not those
// allocated. A container of which the runtime tells no resources has those.
func Changes(pod *corev1.Pod, status *podtypes.PodStatus) (all []Change) {
	if status == nil {
		return nil
	}
	for i := range status.Containers {
		c := &status.Containers[i]
		spec := api.Container(pod, c.Name)
		if spec == nil || c.State != podtypes.ContainerRunning || status.Latest(c.Name) != c {
			continue
		}
		if change, ok := ChangeOf(pod, spec, c); ok {
			all = append(all, change)
		}
	}
	return all
}

// ChangeOf returns what is to change of one running container, and whether anything
// is.
func ChangeOf(pod *corev1.Pod, spec *corev1.Container, c *podtypes.ContainerStatus) (Change, bool) {
	if c.Resources == nil {
		return Change{}, false
	}
	want := Figures(pod, spec)
	change := Change{
		Spec: spec, Container: c, Want: want,
		CPU:    c.Resources.CPUShares != want.CPUShares || !sameQuota(c.Resources, &want),
		Memory: c.Resources.MemoryLimit != want.MemoryLimit,
	}
	return change, change.CPU || change.Memory
}

// Restarts tells whether the container asks to be restarted for such a change.
func (c *Change) Restarts() bool {
	for _, p := range c.Spec.ResizePolicy {
		changed := p.ResourceName == corev1.ResourceCPU && c.CPU || p.ResourceName == corev1.ResourceMemory && c.Memory
		if changed && p.RestartPolicy == corev1.RestartContainer {
			return true
		}
	}
	return false
}

// Widest returns the pod with the larger of the actual and the allocated limits, or
// without a limit that either has not, and pod itself if no resize is under way. A
// pod's cgroup must have room for both while its containers change from one to the
// other: the kernel refuses a parent that is narrower than its children.
func Widest(pod *corev1.Pod, changes []Change) *corev1.Pod {
	if len(changes) == 0 {
		return pod
	}
	wide := pod.DeepCopy()
	for i := range changes {
		c := &changes[i]
		spec := api.Container(wide, c.Spec.Name)
		have := Actual(pod, c.Spec, c.Container.Resources)
		if c.Container.Resources.CPUQuota <= 0 {
			delete(have.Limits, corev1.ResourceCPU)
		}
		if c.Container.Resources.MemoryLimit <= 0 {
			delete(have.Limits, corev1.ResourceMemory)
		}
		widen(spec.Resources.Limits, have.Limits)
		larger(spec.Resources.Requests, have.Requests)
		if wide.Spec.Resources != nil {
			coverFigures(wide.Spec.Resources.Limits, c.Container.Resources)
		}
	}
	return wide
}

// widen raises limits to those of other, and drops those that other does not have.
func widen(limits, other corev1.ResourceList) {
	for _, name := range computeResources {
		if _, ok := other[name]; !ok {
			delete(limits, name)
		}
	}
	larger(limits, other)
}

func larger(list, other corev1.ResourceList) {
	for name, q := range list {
		if o, ok := other[name]; ok && o.Cmp(q) > 0 {
			list[name] = o
		}
	}
}

// coverFigures raises the limits of a whole pod to those that a container has, which
// may be what the pod's were.
func coverFigures(limits corev1.ResourceList, have *podtypes.ContainerResources) {
	larger(limits, corev1.ResourceList{
		corev1.ResourceCPU: *milli(have.LimitMilliCPU()), corev1.ResourceMemory: *bytes(have.MemoryLimit),
	})
}

var computeResources = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}
