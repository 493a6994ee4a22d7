// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-helpers/resource"
)

// validatePodResources looks at the resources of the pod as a whole (KEP-2837), and
// whether those of its containers are within them.
func validatePodResources(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	if spec.Resources == nil {
		return nil
	}
	errs := validateRequirements(spec.Resources, path, validatePodResourceName)
	errs = append(errs, validateAggregates(spec, path)...)
	for i := range spec.Containers {
		at := path.Child("containers").Index(i)
		errs = append(errs, validateWithinPod(spec.Containers[i].Resources.Limits, spec.Resources.Limits, at)...)
	}
	return errs
}

func validatePodResourceName(name corev1.ResourceName, path *field.Path) field.ErrorList {
	if resource.IsSupportedPodLevelResource(name) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, name, sets.List(resource.SupportedPodLevelResources()))}
}

// validateAggregates: what the pod requests covers what its containers request
// together, and its huge pages are enough for theirs.
func validateAggregates(spec *corev1.PodSpec, path *field.Path) (errs field.ErrorList) {
	pod := &corev1.Pod{Spec: *spec}
	requests := resource.AggregateContainerRequests(pod, resource.PodResourcesOptions{})
	for _, name := range sortedNames(requests) {
		sum := requests[name]
		if own, ok := spec.Resources.Requests[name]; ok && sum.Cmp(own) > 0 {
			errs = append(errs, field.Invalid(path.Child("requests").Key(string(name)), own.String(),
				fmt.Sprintf("must be greater than or equal to aggregate container requests of %s", sum.String())))
		}
	}
	limits := resource.AggregateContainerLimits(pod, resource.PodResourcesOptions{})
	for _, name := range sortedNames(limits) {
		sum := limits[name]
		if own, ok := spec.Resources.Limits[name]; ok && IsHugePages(name) && sum.Cmp(own) > 0 {
			errs = append(errs, field.Invalid(path.Child("limits").Key(string(name)), own.String(),
				fmt.Sprintf("must be greater than or equal to aggregate container limits of %s", sum.String())))
		}
	}
	return errs
}

// validateWithinPod refuses a container's limit above the pod's. The path is the one
// that Kubernetes reports.
func validateWithinPod(limits, pod corev1.ResourceList, path *field.Path) (errs field.ErrorList) {
	for _, name := range sortedNames(limits) {
		limit := limits[name]
		if most, ok := pod[name]; ok && limit.Cmp(most) > 0 {
			errs = append(errs, field.Invalid(path.Key(string(name)).Child("limits"), limit.String(),
				fmt.Sprintf("must be less than or equal to pod limits of %s", most.String())))
		}
	}
	return errs
}
