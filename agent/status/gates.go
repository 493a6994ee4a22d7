// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/api"
)

// ReadinessGatesNotReady is the reason of a pod whose containers are ready and whose
// gates are not.
const ReadinessGatesNotReady = "ReadinessGatesNotReady"

// ready: the containers are, and every gate of the pod names a condition that others
// have set to True.
func (in *Input) ready(containers corev1.PodCondition) corev1.PodCondition {
	if containers.Status == corev1.ConditionTrue {
		if closed := in.closedGates(); len(closed) > 0 {
			return condition(corev1.PodReady, false, ReadinessGatesNotReady, strings.Join(closed, ", "))
		}
	}
	containers.Type = corev1.PodReady
	return containers
}

func (in *Input) closedGates() []string {
	var closed []string
	for _, g := range in.Pod.Spec.ReadinessGates {
		switch c := api.PodCondition(in.Previous, g.ConditionType); {
		case c == nil:
			closed = append(closed, fmt.Sprintf("corresponding condition of pod readiness gate %q does not exist.", g.ConditionType))
		case c.Status != corev1.ConditionTrue:
			closed = append(closed, fmt.Sprintf("the status of pod readiness gate %q is not \"True\", but %s", g.ConditionType, c.Status))
		}
	}
	return closed
}

// adoptConditions takes over what a source holds of the conditions that are not the
// node's.
func adoptConditions(status *corev1.PodStatus, held []corev1.PodCondition) {
	var all []corev1.PodCondition
	for _, c := range status.Conditions {
		if api.IsNodeCondition(c.Type) {
			all = append(all, c)
		}
	}
	for _, c := range held {
		if !api.IsNodeCondition(c.Type) {
			all = append(all, *c.DeepCopy())
		}
	}
	status.Conditions = all
}
