// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// Priorities: users' own go up to MaxUserPriority, and those above are of the classes
// that exist from the first start.
const (
	MaxUserPriority = 1_000_000_000
	// CriticalPriority is from when on a pod is one that its cluster cannot do without.
	CriticalPriority = 2 * MaxUserPriority
	systemPrefix     = "system-"
)

// SystemPriorityClasses returns the classes that exist from the first start.
func SystemPriorityClasses() []*schedulingv1.PriorityClass {
	class := func(name string, value int32, description string) *schedulingv1.PriorityClass {
		return &schedulingv1.PriorityClass{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value, Description: description,
			PreemptionPolicy: ptr.To(corev1.PreemptLowerPriority),
		}
	}
	return []*schedulingv1.PriorityClass{
		class("system-cluster-critical", CriticalPriority, "Used for pods that the cluster cannot do without, but that can be moved to another node."),
		class("system-node-critical", CriticalPriority+1000, "Used for pods that their node cannot do without."),
	}
}

// IsSystemPriorityClass tells whether a class of that name exists from the first start.
func IsSystemPriorityClass(name string) bool { return systemPriorityClass(name) != nil }

func systemPriorityClass(name string) *schedulingv1.PriorityClass {
	for _, c := range SystemPriorityClasses() {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// IsCritical tells whether a pod goes before all others on its node.
func IsCritical(pod *corev1.Pod) bool { return ptr.Deref(pod.Spec.Priority, 0) >= CriticalPriority }

func defaultPriorityClass(c *schedulingv1.PriorityClass) {
	setDefaultPointer(&c.PreemptionPolicy, corev1.PreemptLowerPriority)
}
