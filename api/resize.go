// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Resized returns old as a request to resize it makes it: with the resources and the
// resize policies that asked has, for the containers of the same name. Whatever else
// asked says is dropped, as of a status.
func Resized(asked, old *corev1.Pod) *corev1.Pod {
	pod, asked := old.DeepCopy(), asked.DeepCopy()
	resizeContainers(pod.Spec.Containers, asked.Spec.Containers)
	resizeContainers(pod.Spec.InitContainers, asked.Spec.InitContainers)
	pod.Spec.Resources = asked.Spec.Resources
	return pod
}

func resizeContainers(list, asked []corev1.Container) {
	for i := range list {
		for j := range asked {
			if asked[j].Name == list[i].Name {
				list[i].Resources, list[i].ResizePolicy = asked[j].Resources, asked[j].ResizePolicy
			}
		}
	}
}

// ValidateResize returns what is wrong with a pod, which Resized has made of old.
func ValidateResize(_ *Kind, obj, oldObj Object) field.ErrorList {
	if errs := poison(obj); len(errs) > 0 {
		return errs
	}
	pod, old := obj.(*corev1.Pod), oldObj.(*corev1.Pod)
	path := field.NewPath("spec")
	errs := validatePodSpec(&pod.Spec, path)
	if QoSClass(pod) != QoSClass(old) {
		errs = append(errs, field.Invalid(path, pod.Status.QOSClass, "Pod QOS Class may not change as a result of resizing"))
	}
	errs = append(errs, validatePodLevelResize(pod.Spec.Resources, old.Spec.Resources, path)...)
	errs = append(errs, validateContainersResize(pod.Spec.InitContainers, old.Spec.InitContainers, true, path.Child("initContainers"))...)
	return append(errs, validateContainersResize(pod.Spec.Containers, old.Spec.Containers, false, path.Child("containers"))...)
}

// validateContainersResize keeps a container's resources to changes of amounts: a
// limit that goes would have to be taken from a running container, and what is not
// cpu or memory is settled when it is made.
func validateContainersResize(list, old []corev1.Container, isInit bool, path *field.Path) (errs field.ErrorList) {
	for i := range old {
		now, before, at := &list[i].Resources, &old[i].Resources, path.Index(i)
		if isInit && !IsSidecar(&old[i]) {
			errs = append(errs, validateUnchanged(now, before, at.Child("resources"))...)
			continue
		}
		errs = append(errs, validateKept(now.Requests, before.Requests, at.Child("resources", "requests"), "resource requests cannot be removed")...)
		errs = append(errs, validateKept(now.Limits, before.Limits, at.Child("resources", "limits"), "resource limits cannot be removed")...)
		if !sameButCompute(now, before) {
			errs = append(errs, field.Forbidden(at.Child("resources"), "only cpu and memory resources are mutable"))
		}
	}
	return errs
}

// validateUnchanged: what has run, or is about to, for a moment is not worth a change.
func validateUnchanged(now, before *corev1.ResourceRequirements, path *field.Path) field.ErrorList {
	if apiequality.Semantic.DeepEqual(now, before) {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, "resources for non-sidecar init containers are immutable")}
}

func validatePodLevelResize(now, old *corev1.ResourceRequirements, path *field.Path) (errs field.ErrorList) {
	at := path.Child("resources")
	switch {
	case old == nil:
		old = &corev1.ResourceRequirements{}
	case now == nil:
		return field.ErrorList{field.Forbidden(at, "pod-level resources cannot be removed")}
	}
	if now == nil {
		return nil
	}
	errs = append(errs, validateKept(now.Requests, old.Requests, at.Child("requests"), "pod-level resource requests cannot be removed")...)
	errs = append(errs, validateKept(now.Limits, old.Limits, at.Child("limits"), "pod-level resource limits cannot be removed")...)
	if !sameButCompute(now, old) {
		errs = append(errs, field.Forbidden(path, "only cpu and memory resources are mutable at pod-level"))
	}
	return errs
}

func validateKept(now, before corev1.ResourceList, path *field.Path, message string) field.ErrorList {
	for name := range before {
		if _, ok := now[name]; !ok {
			return field.ErrorList{field.Forbidden(path, message)}
		}
	}
	return nil
}

// sameButCompute tells whether two sets of resources differ in cpu and memory only.
func sameButCompute(a, b *corev1.ResourceRequirements) bool {
	return sameListButCompute(a.Requests, b.Requests) && sameListButCompute(a.Limits, b.Limits)
}

func sameListButCompute(a, b corev1.ResourceList) bool {
	return coveredButCompute(a, b) && coveredButCompute(b, a)
}

func coveredButCompute(a, b corev1.ResourceList) bool {
	for name, q := range a {
		if name == corev1.ResourceCPU || name == corev1.ResourceMemory {
			continue
		}
		if other, ok := b[name]; !ok || other.Cmp(q) != 0 {
			return false
		}
	}
	return true
}
