// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"

	"github.com/berth-run/berth/api"
)

const (
	// Scores for the kernel's OOM killer, from -1000 (never) to 1000 (first), as
	// the kubelet gives them. A Burstable container is between the other two.
	guaranteedOOMScore = -997
	bestEffortOOMScore = 1000
	minBurstableScore  = 1000 + guaranteedOOMScore
	maxBurstableScore  = bestEffortOOMScore - 1
)

// nodeCritical is the priority class of pods without which the node is of no use.
const nodeCritical = "system-node-critical"

// oomScoreAdj: of the Burstable containers, the one with the smallest share of the
// node's memory requested is killed first, a sidecar not before the containers that
// need it.
func oomScoreAdj(pod *corev1.Pod, c *corev1.Container, memoryCapacity int64) int64 {
	switch class := api.QoSClass(pod); {
	case class == corev1.PodQOSGuaranteed, pod.Spec.PriorityClassName == nodeCritical:
		return guaranteedOOMScore
	case class == corev1.PodQOSBestEffort:
		return bestEffortOOMScore
	}
	score := 1000 - share(c.Resources.Requests.Memory().Value()+unclaimed(pod), memoryCapacity)
	if api.IsSidecar(c) {
		score = min(score, 1000-share(leastMemoryRequest(pod), memoryCapacity))
	}
	return min(max(score, minBurstableScore), maxBurstableScore)
}

// share is in thousandths.
func share(request, capacity int64) int64 {
	return int64(1000 * (float64(request) / float64(capacity)))
}

// unclaimed is each container's part of what the pod as a whole requests beyond its
// containers.
func unclaimed(pod *corev1.Pod) int64 {
	if !resource.IsPodLevelRequestsSet(pod) {
		return 0
	}
	containers := int64(len(pod.Spec.Containers))
	for i := range pod.Spec.InitContainers {
		if api.IsSidecar(&pod.Spec.InitContainers[i]) {
			containers++
		}
	}
	claimed := resource.AggregateContainerRequests(pod, resource.PodResourcesOptions{})
	return max(pod.Spec.Resources.Requests.Memory().Value()-claimed.Memory().Value(), 0) / max(containers, 1)
}

// leastMemoryRequest of the regular containers.
func leastMemoryRequest(pod *corev1.Pod) int64 {
	least := int64(-1)
	for i := range pod.Spec.Containers {
		if request := pod.Spec.Containers[i].Resources.Requests.Memory().Value(); least < 0 || request < least {
			least = request
		}
	}
	return max(least, 0)
}
