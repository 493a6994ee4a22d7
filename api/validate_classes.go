// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validatePriorityClass(c *schedulingv1.PriorityClass) (errs field.ErrorList) {
	if strings.HasPrefix(c.Name, systemPrefix) {
		if system := systemPriorityClass(c.Name); system == nil || system.Value != c.Value || c.GlobalDefault {
			errs = append(errs, field.Forbidden(field.NewPath("metadata", "name"),
				"priority class names with '"+systemPrefix+"' prefix are reserved for system use only"))
		}
	} else if c.Value > MaxUserPriority {
		errs = append(errs, field.Forbidden(field.NewPath("value"), fmt.Sprintf("maximum allowed value of a user defined priority is %d", MaxUserPriority)))
	}
	if c.PreemptionPolicy != nil {
		errs = append(errs, oneOf(field.NewPath("preemptionPolicy"), *c.PreemptionPolicy, corev1.PreemptLowerPriority, corev1.PreemptNever)...)
	}
	return errs
}

// validatePriorityClassUpdate: a pod has the priority that its class had when the pod
// was created.
func validatePriorityClassUpdate(c, old *schedulingv1.PriorityClass) (errs field.ErrorList) {
	if c.Value != old.Value {
		errs = append(errs, field.Forbidden(field.NewPath("value"), "may not be changed in an update."))
	}
	return append(errs, apivalidation.ValidateImmutableField(c.PreemptionPolicy, old.PreemptionPolicy, field.NewPath("preemptionPolicy"))...)
}

func validateRuntimeClass(c *nodev1.RuntimeClass) field.ErrorList {
	errs := requiredOr(field.NewPath("handler"), c.Handler, validation.IsDNS1123Label)
	if c.Overhead != nil {
		errs = append(errs, validateOverhead(c.Overhead.PodFixed, field.NewPath("overhead", "podFixed"))...)
	}
	if s := c.Scheduling; s != nil {
		path := field.NewPath("scheduling")
		errs = append(errs, metavalidation.ValidateLabels(s.NodeSelector, path.Child("nodeSelector"))...)
		errs = append(errs, validateTolerations(s.Tolerations, path.Child("tolerations"))...)
	}
	return errs
}

// validateRuntimeClassUpdate: running pods have the handler of their class.
func validateRuntimeClassUpdate(c, old *nodev1.RuntimeClass) field.ErrorList {
	return apivalidation.ValidateImmutableField(c.Handler, old.Handler, field.NewPath("handler"))
}

// validateOverhead looks at what a pod takes beside its containers.
func validateOverhead(list corev1.ResourceList, path *field.Path) (errs field.ErrorList) {
	for _, name := range sets.List(sets.KeySet(list)) {
		errs = append(errs, validateContainerResourceName(name, path.Key(string(name)))...)
		errs = append(errs, validateNonnegativeQuantity(list[name], path.Key(string(name)))...)
	}
	return errs
}

// validateClasses looks at what the pod says of its classes, and what followed from
// them when it was created.
func validateClasses(spec *corev1.PodSpec, path *field.Path) (errs field.ErrorList) {
	if name := spec.PriorityClassName; name != "" {
		errs = append(errs, invalidAll(path.Child("priorityClassName"), name, apivalidation.NameIsDNSSubdomain(name, false))...)
	}
	if name := spec.RuntimeClassName; name != nil {
		errs = append(errs, invalidAll(path.Child("runtimeClassName"), *name, apivalidation.NameIsDNSSubdomain(*name, false))...)
	}
	if policy := spec.PreemptionPolicy; policy != nil {
		errs = append(errs, oneOf(path.Child("preemptionPolicy"), *policy, corev1.PreemptLowerPriority, corev1.PreemptNever)...)
	}
	return append(errs, validateOverhead(spec.Overhead, path.Child("overhead"))...)
}
