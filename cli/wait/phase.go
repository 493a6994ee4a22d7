// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package wait

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/api"
)

// phase is a goal: the object is in that phase.
type phase string

var (
	podPhases       = []phase{phase(corev1.PodPending), phase(corev1.PodRunning), phase(corev1.PodSucceeded), phase(corev1.PodFailed)}
	namespacePhases = []phase{phase(corev1.NamespaceActive), phase(corev1.NamespaceTerminating)}
)

func (want phase) check(k *api.Kind, obj api.Object) (Verdict, error) {
	var now phase
	var known []phase
	switch o := obj.(type) {
	case *corev1.Pod:
		now, known = phase(o.Status.Phase), podPhases
	case *corev1.Namespace:
		now, known = phase(o.Status.Phase), namespacePhases
	default:
		return Verdict{}, fmt.Errorf("%s have no phase", k.Resource)
	}
	switch {
	case !slices.Contains(known, want):
		return Verdict{}, fmt.Errorf("the phase is one of %v", known)
	case want == now:
		return Verdict{Met, "it is " + string(now)}, nil
	}
	if pod, ok := obj.(*corev1.Pod); ok {
		return want.ofPod(pod), nil
	}
	return Verdict{Seen: "it is " + string(now)}, nil
}

// ofPod judges a pod that is in another phase. One that is being deleted may still
// end in either way; without an image it can do no more than fail.
func (want phase) ofPod(pod *corev1.Pod) Verdict {
	if v, ended := ended(pod); ended {
		return v
	}
	if !behind(pod) && (want == phase(corev1.PodRunning) || want == phase(corev1.PodSucceeded)) {
		if v, missing := missingImage(pod); missing {
			return v
		}
	}
	return Verdict{Seen: seen(pod)}
}
