// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var emptyDirMedia = []corev1.StorageMedium{
	corev1.StorageMediumDefault, corev1.StorageMediumMemory, corev1.StorageMediumHugePages, corev1.StorageMediumHugePagesPrefix + "<size>",
}

// validateEmptyDir refuses at once a medium of which the node would find only later
// that it does not know it.
func validateEmptyDir(d *corev1.EmptyDirVolumeSource, fldPath *field.Path) (errs field.ErrorList) {
	if !isMedium(d.Medium) {
		errs = append(errs, field.NotSupported(fldPath.Child("medium"), d.Medium, emptyDirMedia))
	}
	if d.SizeLimit != nil && d.SizeLimit.Sign() < 0 {
		errs = append(errs, field.Forbidden(fldPath.Child("sizeLimit"), "SizeLimit field must be a valid resource quantity"))
	}
	if m := d.Mode; m != nil && (*m < 0 || *m > 0o1777) {
		errs = append(errs, field.Invalid(fldPath.Child("mode"), *m, "must be a number between 0 and 01777 (octal), both inclusive"))
	}
	return errs
}

func isMedium(medium corev1.StorageMedium) bool {
	size, sized := strings.CutPrefix(string(medium), string(corev1.StorageMediumHugePagesPrefix))
	if sized {
		page, err := HugePageSize(corev1.ResourceName(corev1.ResourceHugePagesPrefix + size))
		return err == nil && page.Sign() > 0
	}
	return slices.Contains(emptyDirMedia[:3], medium)
}
