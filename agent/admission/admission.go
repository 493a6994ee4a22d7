// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package admission decides whether the node runs a pod that it was given. The
// decision is taken serially, against the pods that the node admitted before.
package admission

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/api/fit"
)

// Admit returns nil when the node has room for pod beside the admitted ones and
// the pod may run there, or the first reason against it.
func Admit(pod *corev1.Pod, admitted []*corev1.Pod, node *corev1.Node, m Machine) *podtypes.RejectError {
	// Such a limit would show only as a sandbox or a volume that cannot be made.
	if why := api.TooLittleMemory(pod); why != "" {
		return &podtypes.RejectError{Reason: "MemoryLimitTooSmall", Message: why}
	}
	if why := checkSecurity(pod, node, m); why != nil {
		return why
	}
	failures := fit.Check(countable(pod, node), node, fit.UsageOf(others(pod, admitted)))
	if len(failures) == 0 {
		return nil
	}
	return &podtypes.RejectError{Reason: failures[0].Reason, Message: failures[0].Message()}
}

// others are the admitted pods beside this one, by what the node has allocated them,
// which is what their specs say here: their statuses may be older.
func others(pod *corev1.Pod, admitted []*corev1.Pod) []*corev1.Pod {
	out := make([]*corev1.Pod, 0, len(admitted))
	for _, p := range admitted {
		if p.UID != pod.UID {
			bare := *p
			bare.Status = corev1.PodStatus{Phase: p.Status.Phase}
			out = append(out, &bare)
		}
	}
	return out
}

// countable returns pod without the extended resources that the node does not know:
// they are counted by those who added them to the node's record.
func countable(pod *corev1.Pod, node *corev1.Node) *corev1.Pod {
	unknown := func(name corev1.ResourceName) bool {
		_, known := node.Status.Allocatable[name]
		return !known && api.IsExtendedResource(name)
	}
	if !slices.ContainsFunc(slices.Collect(maps.Keys(api.PodRequests(pod))), unknown) {
		return pod
	}
	pod = pod.DeepCopy()
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			maps.DeleteFunc(list[i].Resources.Requests, func(name corev1.ResourceName, _ resource.Quantity) bool { return unknown(name) })
		}
	}
	return pod
}
