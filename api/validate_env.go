// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateEnv(env []corev1.EnvVar, path *field.Path) (errs field.ErrorList) {
	for i, e := range env {
		at := path.Index(i)
		errs = append(errs, requiredOr(at.Child("name"), e.Name, validation.IsRelaxedEnvVarName)...)
		errs = append(errs, withoutNUL(e.Value, at.Child("value"))...)
		if e.ValueFrom != nil {
			errs = append(errs, validateEnvSource(e, at.Child("valueFrom"))...)
		}
	}
	return errs
}

func validateEnvSource(e corev1.EnvVar, path *field.Path) (errs field.ErrorList) {
	from, sources := e.ValueFrom, 0
	add := func(more field.ErrorList) {
		sources++
		errs = append(errs, more...)
	}
	if ref := from.FieldRef; ref != nil {
		add(validateFieldRef(ref, envFieldPaths, path.Child("fieldRef")))
	}
	if ref := from.ResourceFieldRef; ref != nil {
		add(validateResourceFieldRef(ref, false, path.Child("resourceFieldRef")))
	}
	if ref := from.ConfigMapKeyRef; ref != nil {
		add(validateKeyRef(ref.Name, ref.Key, path.Child("configMapKeyRef")))
	}
	if ref := from.SecretKeyRef; ref != nil {
		add(validateKeyRef(ref.Name, ref.Key, path.Child("secretKeyRef")))
	}
	if ref := from.FileKeyRef; ref != nil {
		add(validateFileKeyRef(ref, path.Child("fileKeyRef")))
	}
	switch {
	case sources == 0:
		errs = append(errs, field.Invalid(path, "", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"))
	case e.Value != "":
		errs = append(errs, field.Invalid(path, "", "may not be specified when `value` is not empty"))
	case sources > 1:
		errs = append(errs, field.Invalid(path, "", "may not have more than one field specified at a time"))
	}
	return errs
}

func validateKeyRef(name, key string, path *field.Path) field.ErrorList {
	errs := requiredOr(path.Child("name"), name, validation.IsDNS1123Subdomain)
	return append(errs, requiredOr(path.Child("key"), key, validation.IsConfigMapKey)...)
}
