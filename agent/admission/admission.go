// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package admission decides whether the node runs a pod that it was given. The
// decision is taken serially, against the pods that the node admitted before.
package admission

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/api/fit"
)

// Admit returns nil when the node has room for pod beside the admitted ones and
// the pod may run there, or the first reason against it.
func Admit(pod *corev1.Pod, admitted []*corev1.Pod, node *corev1.Node) *podtypes.RejectError {
	// Such a limit would show only as a sandbox or a volume that cannot be made.
	if why := api.TooLittleMemory(pod); why != "" {
		return &podtypes.RejectError{Reason: "MemoryLimitTooSmall", Message: why}
	}
	others := make([]*corev1.Pod, 0, len(admitted))
	for _, p := range admitted {
		if p.UID != pod.UID {
			others = append(others, p)
		}
	}
	failures := fit.Check(pod, node, fit.UsageOf(others))
	if len(failures) == 0 {
		return nil
	}
	return &podtypes.RejectError{Reason: failures[0].Reason, Message: failures[0].Message()}
}
