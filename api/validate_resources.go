// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateResources looks at what a container requests and is limited to.
func validateResources(r *corev1.ResourceRequirements, path *field.Path) field.ErrorList {
	return validateRequirements(r, path, validateContainerResourceName)
}

// validateRequirements looks at requests and limits whose names check accepts.
func validateRequirements(r *corev1.ResourceRequirements, path *field.Path,
	check func(corev1.ResourceName, *field.Path) field.ErrorList) (errs field.ErrorList) {
	for _, name := range sortedNames(r.Limits) {
		at := path.Child("limits").Key(string(name))
		errs = append(errs, check(name, at)...)
		errs = append(errs, validateQuantity(name, r.Limits[name], at)...)
	}
	for _, name := range sortedNames(r.Requests) {
		at := path.Child("requests").Key(string(name))
		errs = append(errs, check(name, at)...)
		errs = append(errs, validateQuantity(name, r.Requests[name], at)...)
		errs = append(errs, validateRequest(r, name, path)...)
	}
	return append(errs, validateHugePagesCompany(r, path)...)
}

func sortedNames(list corev1.ResourceList) []corev1.ResourceName {
	return sets.List(sets.KeySet(list))
}

// validateRequest compares a request with the limit of the same resource.
func validateRequest(r *corev1.ResourceRequirements, name corev1.ResourceName, path *field.Path) field.ErrorList {
	request := r.Requests[name]
	limit, limited := r.Limits[name]
	says := ""
	switch {
	case !limited && !isOvercommitted(name):
		return field.ErrorList{field.Required(path.Child("limits"), "Limit must be set for non overcommitable resources")}
	case !limited:
		return nil
	case !isOvercommitted(name) && request.Cmp(limit) != 0:
		says = "must be equal to %s limit of %s"
	case request.Cmp(limit) > 0:
		says = "must be less than or equal to %s limit of %s"
	default:
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("requests"), request.String(), fmt.Sprintf(says, name, limit.String()))}
}

// validateHugePagesCompany: a program that has nothing but huge pages cannot run.
func validateHugePagesCompany(r *corev1.ResourceRequirements, path *field.Path) field.ErrorList {
	names := slices.Concat(sortedNames(r.Limits), sortedNames(r.Requests))
	usual := slices.ContainsFunc(names, func(n corev1.ResourceName) bool { return slices.Contains(qosResources, n) })
	if usual || !slices.ContainsFunc(names, IsHugePages) {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, "HugePages require cpu or memory")}
}

// validateContainerResourceName accepts what berth counts: what is in this list, huge
// pages, and what others count in nodes' capacity.
func validateContainerResourceName(name corev1.ResourceName, path *field.Path) field.ErrorList {
	if errs := invalidAll(path, name, validation.IsQualifiedName(string(name))); len(errs) > 0 {
		return errs
	}
	switch {
	case name == corev1.ResourceCPU, name == corev1.ResourceMemory, name == corev1.ResourceEphemeralStorage,
		IsHugePages(name), IsExtendedResource(name):
		return nil
	case !isNativeResource(name):
		return field.ErrorList{field.Invalid(path, name, "doesn't follow extended resource name standard")}
	}
	return field.ErrorList{field.Invalid(path, name, "must be a standard resource for containers")}
}

func validateQuantity(name corev1.ResourceName, q resource.Quantity, path *field.Path) field.ErrorList {
	errs := validateNonnegativeQuantity(q, path)
	if IsExtendedResource(name) && isFractional(q) {
		errs = append(errs, field.Invalid(path, q.String(), "must be an integer"))
	}
	if IsHugePages(name) && !isMultipleOfPage(name, q) {
		errs = append(errs, field.Invalid(path, q.String(), fmt.Sprintf("%s is not positive integer multiple of %s", q.String(), name)))
	}
	return errs
}

func isMultipleOfPage(name corev1.ResourceName, q resource.Quantity) bool {
	page, err := HugePageSize(name)
	return err == nil && page.Sign() > 0 && !isFractional(page) && q.Value()%page.Value() == 0
}

func validateNonnegativeQuantity(q resource.Quantity, path *field.Path) field.ErrorList {
	if q.Sign() >= 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, q.String(), apivalidation.IsNegativeErrorMsg)}
}

// validateResizePolicy looks at what a change of a container's resources entails.
func validateResizePolicy(list []corev1.ContainerResizePolicy, restart corev1.RestartPolicy, path *field.Path) (errs field.ErrorList) {
	seen := sets.New[corev1.ResourceName]()
	for i, p := range list {
		if seen.Has(p.ResourceName) {
			errs = append(errs, field.Duplicate(path.Index(i), p.ResourceName))
		}
		seen.Insert(p.ResourceName)
		errs = append(errs, oneOf(path, p.ResourceName, corev1.ResourceCPU, corev1.ResourceMemory)...)
		errs = append(errs, oneOf(path, p.RestartPolicy, corev1.NotRequired, corev1.RestartContainer)...)
		if restart == corev1.RestartPolicyNever && p.RestartPolicy == corev1.RestartContainer {
			errs = append(errs, field.Invalid(path, p.RestartPolicy, "must be 'NotRequired' when `restartPolicy` is 'Never'"))
		}
	}
	return errs
}
