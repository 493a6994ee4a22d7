// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"github.com/berth-run/berth/api"
)

// Same tells whether two versions of a pod have the same resources.
func Same(a, b *corev1.Pod) bool {
	return apiequality.Semantic.DeepEqual(a.Spec.Resources, b.Spec.Resources) &&
		sameResources(a.Spec.InitContainers, b.Spec.InitContainers) && sameResources(a.Spec.Containers, b.Spec.Containers)
}

func sameResources(a, b []corev1.Container) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Name != b[i].Name || !apiequality.Semantic.DeepEqual(a[i].Resources, b[i].Resources) {
			return false
		}
	}
	return true
}

// Allocated returns the pod with the resources that another version of it has: what
// the node has agreed to.
func Allocated(pod, other *corev1.Pod) *corev1.Pod {
	if Same(pod, other) {
		return pod
	}
	out := pod.DeepCopy()
	out.Spec.Resources = other.Spec.Resources.DeepCopy()
	for _, list := range [][]corev1.Container{out.Spec.InitContainers, out.Spec.Containers} {
		for i := range list {
			if c := api.Container(other, list[i].Name); c != nil {
				list[i].Resources = *c.Resources.DeepCopy()
			}
		}
	}
	return out
}

// Restored returns the pod with the resources that this node had allocated to it by
// what the server holds of its status, and pod itself if that is nothing else.
//
// A status tells what was allocated of requests alone, and the limits that containers
// had. If the requests are those of the spec, so were the limits: a resize had begun
// that changes both.
func Restored(pod *corev1.Pod) *corev1.Pod {
	if requestsAllocated(pod) && api.PodCondition(&pod.Status, corev1.PodResizePending) == nil {
		return pod
	}
	out := pod.DeepCopy()
	restorePod(out)
	for _, list := range [][]corev1.Container{out.Spec.InitContainers, out.Spec.Containers} {
		for i := range list {
			if s := statusOf(out, list[i].Name); s != nil && s.Resources != nil {
				list[i].Resources.Requests = s.AllocatedResources
				list[i].Resources.Limits = s.Resources.Limits
			}
		}
	}
	return out
}

func restorePod(pod *corev1.Pod) {
	if r := pod.Spec.Resources; r != nil && pod.Status.Resources != nil {
		r.Requests, r.Limits = pod.Status.Resources.Requests, pod.Status.Resources.Limits
	}
}

// requestsAllocated tells whether the requests of all containers are allocated, as far
// as the status says.
func requestsAllocated(pod *corev1.Pod) bool {
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			s := statusOf(pod, list[i].Name)
			if s != nil && s.Resources != nil && !apiequality.Semantic.DeepEqual(s.AllocatedResources, list[i].Resources.Requests) {
				return false
			}
		}
	}
	return true
}

func statusOf(pod *corev1.Pod, name string) *corev1.ContainerStatus {
	for _, list := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}
