// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"
)

// QoSClass returns the pod's quality-of-service class from the requests and
// limits of cpu and memory: Guaranteed when every container's limits are set and
// equal to its requests, BestEffort when nothing is set, Burstable otherwise.
// Pod-level resources, where set, decide alone.
func QoSClass(pod *corev1.Pod) corev1.PodQOSClass {
	if resource.IsPodLevelResourcesSet(pod) {
		return qosOf([]corev1.ResourceRequirements{*pod.Spec.Resources})
	}
	var all []corev1.ResourceRequirements
	for i := range pod.Spec.InitContainers {
		all = append(all, pod.Spec.InitContainers[i].Resources)
	}
	for i := range pod.Spec.Containers {
		all = append(all, pod.Spec.Containers[i].Resources)
	}
	return qosOf(all)
}

var qosResources = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}

func qosOf(all []corev1.ResourceRequirements) corev1.PodQOSClass {
	guaranteed, bestEffort := len(all) > 0, true
	for _, r := range all {
		if isSet(r.Requests) || isSet(r.Limits) {
			bestEffort = false
		}
		if !isGuaranteed(r) {
			guaranteed = false
		}
	}
	switch {
	case bestEffort:
		return corev1.PodQOSBestEffort
	case guaranteed:
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}

func isSet(l corev1.ResourceList) bool {
	for _, name := range qosResources {
		if q, ok := l[name]; ok && !q.IsZero() {
			return true
		}
	}
	return false
}

// isGuaranteed takes a missing request as equal to the limit, as defaulting does.
func isGuaranteed(r corev1.ResourceRequirements) bool {
	for _, name := range qosResources {
		limit, ok := r.Limits[name]
		if !ok || limit.IsZero() {
			return false
		}
		if request, ok := r.Requests[name]; ok && request.Cmp(limit) != 0 {
			return false
		}
	}
	return true
}
