// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
)

// defaultRequests requests what is limited where nothing is requested.
func defaultRequests(r *corev1.ResourceRequirements) {
	r.Requests = withMissing(r.Requests, r.Limits)
}

// defaultPodResources completes resources of the pod as a whole (KEP-2837), where
// some are set: what the pod does not request, but is limited to, is what its
// containers request together, or else the limit. Huge pages follow the containers.
func defaultPodResources(pod *corev1.Pod) {
	r := pod.Spec.Resources
	if r == nil {
		return
	}
	if len(r.Requests)+len(r.Limits) > 0 {
		sum := resourcehelper.AggregateContainerLimits(pod, resourcehelper.PodResourcesOptions{})
		r.Limits = withMissing(r.Limits, only(sum, IsHugePages))
	}
	if len(r.Limits) > 0 {
		sum := resourcehelper.AggregateContainerRequests(pod, resourcehelper.PodResourcesOptions{})
		r.Requests = withMissing(r.Requests, only(sum, func(name corev1.ResourceName) bool {
			return resourcehelper.IsSupportedPodLevelResource(name) && !IsHugePages(name)
		}))
		r.Requests = withMissing(r.Requests, only(r.Limits, resourcehelper.IsSupportedPodLevelResource))
	}
}

func only(list corev1.ResourceList, keep func(corev1.ResourceName) bool) corev1.ResourceList {
	out := maps.Clone(list)
	maps.DeleteFunc(out, func(name corev1.ResourceName, _ resource.Quantity) bool { return !keep(name) })
	return out
}

// withMissing returns list with what it lacks of more. It does not change list, which
// may be shared.
func withMissing(list, more corev1.ResourceList) corev1.ResourceList {
	var out corev1.ResourceList
	for name, q := range more {
		if _, ok := list[name]; ok {
			continue
		}
		if out == nil {
			out = corev1.ResourceList{}
			maps.Copy(out, list)
		}
		out[name] = q.DeepCopy()
	}
	if out == nil {
		return list
	}
	return out
}
