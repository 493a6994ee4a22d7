// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// AllocateExtended makes the extended resources that pods can have of a node those of
// its capacity, which users set. It does not change what others may hold.
func AllocateExtended(status *corev1.NodeStatus) {
	allocatable := maps.Clone(status.Allocatable)
	if allocatable == nil {
		allocatable = corev1.ResourceList{}
	}
	maps.DeleteFunc(allocatable, func(name corev1.ResourceName, _ resource.Quantity) bool { return IsExtendedResource(name) })
	maps.Copy(allocatable, ExtendedResources(status.Capacity))
	if len(allocatable) > 0 {
		status.Allocatable = allocatable
	}
}

// ExtendedResources returns those of the list.
func ExtendedResources(list corev1.ResourceList) corev1.ResourceList {
	return only(list, IsExtendedResource)
}

// validateNodeStatus looks at what a node has.
func validateNodeStatus(status *corev1.NodeStatus) (errs field.ErrorList) {
	path := field.NewPath("status")
	for _, name := range sortedNames(status.Capacity) {
		errs = append(errs, validateQuantity(name, status.Capacity[name], path.Child("capacity").Key(string(name)))...)
	}
	for _, name := range sortedNames(status.Allocatable) {
		errs = append(errs, validateQuantity(name, status.Allocatable[name], path.Child("allocatable").Key(string(name)))...)
	}
	return errs
}
