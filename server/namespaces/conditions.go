// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package namespaces

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// conditions returns what keeps a namespace from its end, in Kubernetes' words:
// the content that is left, its finalizers, and what failed.
func conditions(content []item, failures []error) []corev1.NamespaceCondition {
	return []corev1.NamespaceCondition{
		failureCondition(failures), contentCondition(content), finalizersCondition(content),
	}
}

func failureCondition(failures []error) corev1.NamespaceCondition {
	if len(failures) == 0 {
		return holdsNot(corev1.NamespaceDeletionContentFailure, "ContentDeleted", "All content successfully deleted, may be waiting on finalization")
	}
	var texts []string
	for _, err := range failures {
		texts = append(texts, err.Error())
	}
	slices.Sort(texts)
	return holds(corev1.NamespaceDeletionContentFailure, "ContentDeletionFailed",
		fmt.Sprintf("Failed to delete all resource types, %d remaining: %s", len(texts), strings.Join(texts, ", ")))
}

func contentCondition(content []item) corev1.NamespaceCondition {
	if len(content) == 0 {
		return holdsNot(corev1.NamespaceContentRemaining, "ContentRemoved", "All content successfully removed")
	}
	left := map[string]int{}
	for _, i := range content {
		left[i.kind.Resource+"."+i.kind.Group]++
	}
	return holds(corev1.NamespaceContentRemaining, "SomeResourcesRemain",
		"Some resources are remaining: "+counted(left, "%s has %d resource instances"))
}

func finalizersCondition(content []item) corev1.NamespaceCondition {
	left := map[string]int{}
	for _, i := range content {
		for _, f := range i.GetFinalizers() {
			left[f]++
		}
	}
	if len(left) == 0 {
		return holdsNot(corev1.NamespaceFinalizersRemaining, "ContentHasNoFinalizers", "All content-preserving finalizers finished")
	}
	return holds(corev1.NamespaceFinalizersRemaining, "SomeFinalizersRemain",
		"Some content in the namespace has finalizers remaining: "+counted(left, "%s in %d resource instances"))
}

func counted(left map[string]int, format string) string {
	var texts []string
	for _, what := range slices.Sorted(maps.Keys(left)) {
		texts = append(texts, fmt.Sprintf(format, what, left[what]))
	}
	return strings.Join(texts, ", ")
}

func holds(t corev1.NamespaceConditionType, reason, message string) corev1.NamespaceCondition {
	return corev1.NamespaceCondition{Type: t, Status: corev1.ConditionTrue, Reason: reason, Message: message}
}

func holdsNot(t corev1.NamespaceConditionType, reason, message string) corev1.NamespaceCondition {
	return corev1.NamespaceCondition{Type: t, Status: corev1.ConditionFalse, Reason: reason, Message: message}
}

// setConditions brings conditions into a status. One that keeps its status keeps
// its transition time.
func setConditions(status *corev1.NamespaceStatus, conditions []corev1.NamespaceCondition, now time.Time) {
	for _, c := range conditions {
		c.LastTransitionTime = metav1.NewTime(now).Rfc3339Copy()
		at := slices.IndexFunc(status.Conditions, func(old corev1.NamespaceCondition) bool { return old.Type == c.Type })
		if at < 0 {
			status.Conditions = append(status.Conditions, c)
			continue
		}
		if old := status.Conditions[at]; old.Status == c.Status {
			c.LastTransitionTime = old.LastTransitionTime
		}
		status.Conditions[at] = c
	}
}
