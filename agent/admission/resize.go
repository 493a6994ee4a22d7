// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/api/fit"
)

// Resize returns nil when the node has room for a pod that runs with the resources
// that it is to have, or else why not: Infeasible is what the node will never have,
// Deferred what others have now.
func Resize(pod *corev1.Pod, admitted []*corev1.Pod, node *corev1.Node) *podtypes.RejectError {
	if why := api.TooLittleMemory(pod); why != "" {
		return &podtypes.RejectError{Reason: corev1.PodReasonInfeasible, Message: why}
	}
	usage := fit.UsageOf(others(pod, admitted))
	requests := api.PodRequests(pod)
	var deferred *podtypes.RejectError
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		request, have := requests[name], node.Status.Allocatable[name]
		want, capacity, used := request.MilliValue(), have.MilliValue(), usage.Requested(name)
		switch {
		case want > capacity:
			return &podtypes.RejectError{Reason: corev1.PodReasonInfeasible, Message: fmt.Sprintf(
				"Node didn't have enough capacity: %s, requested: %d, capacity: %d", name, inUnit(name, want), inUnit(name, capacity))}
		case want+used > capacity && want > 0 && deferred == nil:
			deferred = &podtypes.RejectError{Reason: corev1.PodReasonDeferred, Message: fmt.Sprintf(
				"Node didn't have enough resource: %s, requested: %d, used: %d, capacity: %d",
				name, inUnit(name, want), inUnit(name, used), inUnit(name, capacity))}
		}
	}
	return deferred
}

// inUnit tells CPUs in thousandths and all else in whole units, as the kubelet does.
func inUnit(name corev1.ResourceName, milli int64) int64 {
	if name == corev1.ResourceCPU {
		return milli
	}
	return milli / 1000
}
