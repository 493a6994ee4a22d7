// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateDownwardAPIVolume(v *corev1.DownwardAPIVolumeSource, fldPath *field.Path) field.ErrorList {
	errs := validateMode(v.DefaultMode, fldPath.Child("defaultMode"))
	return append(errs, validateDownwardFiles(v.Items, fldPath.Child("items"))...)
}

func validateDownwardFiles(items []corev1.DownwardAPIVolumeFile, fldPath *field.Path) (errs field.ErrorList) {
	for i := range items {
		item, at := &items[i], fldPath.Index(i)
		errs = append(errs, requiredOr(at.Child("path"), item.Path, checkItemPath)...)
		errs = append(errs, validateDownwardValue(item, at)...)
		errs = append(errs, validateMode(item.Mode, at.Child("mode"))...)
	}
	return errs
}

func validateDownwardValue(item *corev1.DownwardAPIVolumeFile, fldPath *field.Path) (errs field.ErrorList) {
	switch {
	case item.FieldRef == nil && item.ResourceFieldRef == nil:
		return field.ErrorList{field.Required(fldPath, "one of fieldRef and resourceFieldRef is required")}
	case item.FieldRef == nil:
		return validateResourceFieldRef(item.ResourceFieldRef, true, fldPath.Child("resourceFieldRef"))
	case item.ResourceFieldRef != nil:
		errs = field.ErrorList{field.Invalid(fldPath, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously")}
	}
	return append(errs, validateFieldRef(item.FieldRef, volumeFieldPaths, fldPath.Child("fieldRef"))...)
}
