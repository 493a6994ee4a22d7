// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Validation says what is wrong with an object in the words, and with the paths,
// that Kubernetes has for it.

// ValidateCreate returns what is wrong with a new object of kind k that has been
// defaulted.
func ValidateCreate(k *Kind, obj Object) field.ErrorList {
	if errs := poison(obj); len(errs) > 0 {
		return errs
	}
	errs := append(validateMeta(k, obj), validateContent(obj)...)
	return append(errs, validateNew(obj)...)
}

// ValidateUpdate returns what is wrong with an object that shall replace old,
// and with changing it so. obj has the resourceVersion of old.
func ValidateUpdate(k *Kind, obj, old Object) field.ErrorList {
	if errs := poison(obj); len(errs) > 0 {
		return errs
	}
	errs := validateMeta(k, obj)
	errs = append(errs, apivalidation.ValidateObjectMetaAccessorUpdate(obj, old, field.NewPath("metadata"))...)
	errs = append(errs, validateContent(obj)...)
	return append(errs, validateTransition(obj, old)...)
}

// ValidateStatusUpdate returns what is wrong with the status of an object that
// shall replace old.
func ValidateStatusUpdate(k *Kind, obj, old Object) field.ErrorList {
	if errs := poison(obj); len(errs) > 0 {
		return errs
	}
	switch o := obj.(type) {
	case *corev1.Pod:
		return validatePodStatus(&o.Status, &old.(*corev1.Pod).Status)
	case *corev1.Namespace:
		return validateNamespaceStatus(o)
	case *corev1.Node:
		return validateNodeStatus(&o.Status)
	}
	return nil
}

func validateMeta(k *Kind, obj Object) field.ErrorList {
	path := field.NewPath("metadata")
	name := apivalidation.NameIsDNSSubdomain
	if k == Namespaces {
		name = apivalidation.NameIsDNSLabel
	}
	errs := apivalidation.ValidateObjectMetaAccessor(obj, k.Namespaced, name, path)
	return append(errs, validateFinalizers(obj.GetFinalizers(), path.Child("finalizers"))...)
}

// validateFinalizers adds to the general rules that a name without a domain is one
// of Kubernetes' own.
func validateFinalizers(finalizers []string, path *field.Path) (errs field.ErrorList) {
	own := []string{string(corev1.FinalizerKubernetes), metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents}
	for i, f := range finalizers {
		if !strings.Contains(f, "/") && !slices.Contains(own, f) {
			errs = append(errs, field.Invalid(path.Index(i), f, "name is neither a standard finalizer name nor is it fully qualified"))
		}
	}
	return errs
}

// validateContent looks at an object by itself.
func validateContent(obj Object) field.ErrorList {
	switch o := obj.(type) {
	case *corev1.Pod:
		return validatePodSpec(&o.Spec, field.NewPath("spec"))
	case *corev1.Secret:
		return validateSecret(o)
	case *corev1.ConfigMap:
		return validateConfigMap(o)
	case *corev1.Namespace:
		return validateNamespace(o)
	case *corev1.Node:
		return validateTaints(o.Spec.Taints, field.NewPath("spec", "taints"))
	case *corev1.Event:
		return validateEvent(o)
	case *schedulingv1.PriorityClass:
		return validatePriorityClass(o)
	case *nodev1.RuntimeClass:
		return validateRuntimeClass(o)
	}
	return nil
}

// validateNew looks at what an object cannot have from its beginning.
func validateNew(obj Object) field.ErrorList {
	if pod, ok := obj.(*corev1.Pod); ok && len(pod.Spec.EphemeralContainers) > 0 {
		return field.ErrorList{field.Forbidden(field.NewPath("spec", "ephemeralContainers"), "cannot be set on create")}
	}
	return nil
}

// validateTransition looks at what changed.
func validateTransition(obj, old Object) field.ErrorList {
	switch o := obj.(type) {
	case *corev1.Pod:
		return validatePodUpdate(&o.Spec, &old.(*corev1.Pod).Spec, field.NewPath("spec"))
	case *corev1.Secret:
		return validateSecretUpdate(o, old.(*corev1.Secret))
	case *corev1.ConfigMap:
		return validateConfigMapUpdate(o, old.(*corev1.ConfigMap))
	case *schedulingv1.PriorityClass:
		return validatePriorityClassUpdate(o, old.(*schedulingv1.PriorityClass))
	case *nodev1.RuntimeClass:
		return validateRuntimeClassUpdate(o, old.(*nodev1.RuntimeClass))
	}
	return nil
}

// validateNamespace refuses finalizers in the spec that nobody could take away.
func validateNamespace(ns *corev1.Namespace) (errs field.ErrorList) {
	path := field.NewPath("spec", "finalizers")
	for i, f := range ns.Spec.Finalizers {
		if f != corev1.FinalizerKubernetes {
			errs = append(errs, field.Forbidden(path.Index(i), notHonoured))
		}
	}
	return errs
}

// validateNamespaceStatus keeps the phase to what the deletion timestamp says.
func validateNamespaceStatus(ns *corev1.Namespace) field.ErrorList {
	path := field.NewPath("status", "phase")
	switch deleted := ns.DeletionTimestamp != nil; {
	case !deleted && ns.Status.Phase != corev1.NamespaceActive:
		return field.ErrorList{field.Invalid(path, ns.Status.Phase, "may only be 'Active' if `deletionTimestamp` is empty")}
	case deleted && ns.Status.Phase != corev1.NamespaceTerminating:
		return field.ErrorList{field.Invalid(path, ns.Status.Phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")}
	}
	return nil
}

// validateEvent keeps an event in the namespace of what it is about. An event
// about an object without a namespace lives in default.
func validateEvent(e *corev1.Event) field.ErrorList {
	about := e.InvolvedObject.Namespace
	if about == e.Namespace || (about == "" && e.Namespace == corev1.NamespaceDefault) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("involvedObject", "namespace"), about, "does not match event.namespace")}
}

// invalidAll is one Invalid error for each message that a checker returned.
func invalidAll(path *field.Path, value any, messages []string) (errs field.ErrorList) {
	for _, m := range messages {
		errs = append(errs, field.Invalid(path, value, m))
	}
	return errs
}

// requiredOr reports an empty text as missing, and else what check says of it.
func requiredOr(path *field.Path, value string, check func(string) []string) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	return invalidAll(path, value, check(value))
}

// oneOf refuses a value that is not among those supported; empty is missing.
func oneOf[T ~string](path *field.Path, value T, supported ...T) field.ErrorList {
	for _, s := range supported {
		if s == value {
			return nil
		}
	}
	if value == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	return field.ErrorList{field.NotSupported(path, value, supported)}
}
