// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const podUpdateRule = "pod updates may not change fields other than `spec.containers[*].image`, `spec.initContainers[*].image`, " +
	"`spec.activeDeadlineSeconds` (only shortened) and `spec.tolerations` (only added to)"

// validatePodUpdate allows the few changes of a spec that a running pod can take,
// and refuses the others, each with its path.
func validatePodUpdate(spec, old *corev1.PodSpec, path *field.Path) field.ErrorList {
	if errs := validateSameContainers(spec, old, path); len(errs) > 0 {
		return errs
	}
	errs := validateDeadlineUpdate(spec.ActiveDeadlineSeconds, old.ActiveDeadlineSeconds, path.Child("activeDeadlineSeconds"))
	errs = append(errs, validateTolerationsUpdate(spec.Tolerations, old.Tolerations, path.Child("tolerations"))...)
	for _, at := range changedPaths(reflect.ValueOf(*withUpdatable(spec, old)), reflect.ValueOf(*old), path) {
		errs = append(errs, field.Forbidden(at, podUpdateRule))
	}
	return errs
}

// validateSameContainers: without the same containers, there is nothing to compare.
func validateSameContainers(spec, old *corev1.PodSpec, path *field.Path) field.ErrorList {
	return forbidden([]setField{
		{"containers", len(spec.Containers) != len(old.Containers)},
		{"initContainers", len(spec.InitContainers) != len(old.InitContainers)},
	}, path, "pod updates may not add or remove containers")
}

// withUpdatable returns spec with what may change as old has it: any difference
// that is left may not be.
func withUpdatable(spec, old *corev1.PodSpec) *corev1.PodSpec {
	same := spec.DeepCopy()
	same.ActiveDeadlineSeconds, same.Tolerations = old.ActiveDeadlineSeconds, old.Tolerations
	keepImages(same.Containers, old.Containers)
	keepImages(same.InitContainers, old.InitContainers)
	return same
}

func keepImages(containers, old []corev1.Container) {
	for i := range min(len(containers), len(old)) {
		containers[i].Image = old[i].Image
	}
}

func validateDeadlineUpdate(now, before *int64, path *field.Path) field.ErrorList {
	switch {
	case before == nil, now != nil && *now <= *before:
		return nil
	case now == nil:
		return field.ErrorList{field.Invalid(path, now, "must not update from a positive integer to nil value")}
	}
	return field.ErrorList{field.Invalid(path, *now, "must be less than or equal to previous value")}
}

func validateTolerationsUpdate(now, before []corev1.Toleration, path *field.Path) (errs field.ErrorList) {
	for i := range before {
		kept := slices.ContainsFunc(now, func(t corev1.Toleration) bool { return t.MatchToleration(&before[i]) })
		if !kept {
			errs = append(errs, field.Forbidden(path, "existing toleration can not be modified except its tolerationSeconds"))
		}
	}
	return errs
}

// changedPaths returns where two values of one type differ, as deep down as their
// shapes are the same.
func changedPaths(now, before reflect.Value, path *field.Path) (paths []*field.Path) {
	if apiequality.Semantic.DeepEqual(now.Interface(), before.Interface()) {
		return nil
	}
	switch {
	case now.Kind() == reflect.Struct && !slices.Contains(selfDecoding, now.Type()):
		for i, name := range jsonNames(now.Type()) {
			paths = append(paths, changedPaths(now.Field(i), before.Field(i), childPath(path, name))...)
		}
		return paths
	case now.Kind() == reflect.Pointer && !now.IsNil() && !before.IsNil():
		return changedPaths(now.Elem(), before.Elem(), path)
	case now.Kind() == reflect.Slice && now.Len() == before.Len():
		for i := range now.Len() {
			paths = append(paths, changedPaths(now.Index(i), before.Index(i), path.Index(i))...)
		}
		return paths
	}
	return []*field.Path{path}
}
