// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateSeccomp(p *corev1.SeccompProfile, at *field.Path) (errs field.ErrorList) {
	if p == nil {
		return nil
	}
	file := at.Child("localhostProfile")
	switch {
	case p.Type != corev1.SeccompProfileTypeLocalhost && p.LocalhostProfile != nil:
		errs = append(errs, field.Invalid(file, *p.LocalhostProfile, "can only be set when seccomp type is Localhost"))
	case p.Type == corev1.SeccompProfileTypeLocalhost && p.LocalhostProfile == nil:
		errs = append(errs, field.Required(file, "must be set when seccomp type is Localhost"))
	case p.Type == corev1.SeccompProfileTypeLocalhost:
		errs = append(errs, requiredOr(file, *p.LocalhostProfile, checkLocalPath)...)
	}
	if p.Type == "" {
		return append(errs, field.Required(at.Child("type"), "type is required when seccompProfile is set"))
	}
	return append(errs, oneOf(at.Child("type"), p.Type, corev1.SeccompProfileTypeLocalhost,
		corev1.SeccompProfileTypeRuntimeDefault, corev1.SeccompProfileTypeUnconfined)...)
}

// maxAppArmorName is how long the name of a profile may be: as a path of Linux.
const maxAppArmorName = 4095

func validateAppArmor(p *corev1.AppArmorProfile, at *field.Path) (errs field.ErrorList) {
	if p == nil {
		return nil
	}
	switch p.Type {
	case "":
		return field.ErrorList{field.Required(at.Child("type"), "type is required when appArmorProfile is set")}
	case corev1.AppArmorProfileTypeLocalhost:
		return validateAppArmorName(p.LocalhostProfile, at.Child("localhostProfile"))
	}
	if p.LocalhostProfile != nil {
		errs = append(errs, field.Invalid(at.Child("localhostProfile"), *p.LocalhostProfile, "can only be set when AppArmor type is Localhost"))
	}
	return append(errs, oneOf(at.Child("type"), p.Type, corev1.AppArmorProfileTypeLocalhost,
		corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeUnconfined)...)
}

func validateAppArmorName(name *string, at *field.Path) field.ErrorList {
	switch {
	case name == nil || strings.TrimSpace(*name) == "":
		return field.ErrorList{field.Required(at, "must be set when AppArmor type is Localhost")}
	case strings.TrimSpace(*name) != *name:
		return field.ErrorList{field.Invalid(at, *name, "must not be padded with whitespace")}
	case len(*name) > maxAppArmorName:
		return field.ErrorList{field.TooLong(at, *name, maxAppArmorName)}
	}
	return nil
}
