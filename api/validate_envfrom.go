// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateEnvFrom(all []corev1.EnvFromSource, path *field.Path) (errs field.ErrorList) {
	for i, from := range all {
		at, sources := path.Index(i), 0
		if from.Prefix != "" {
			errs = append(errs, invalidAll(at.Child("prefix"), from.Prefix, validation.IsRelaxedEnvVarName(from.Prefix))...)
		}
		if ref := from.ConfigMapRef; ref != nil {
			sources++
			errs = append(errs, requiredOr(at.Child("configMapRef", "name"), ref.Name, validation.IsDNS1123Subdomain)...)
		}
		if ref := from.SecretRef; ref != nil {
			sources++
			errs = append(errs, requiredOr(at.Child("secretRef", "name"), ref.Name, validation.IsDNS1123Subdomain)...)
		}
		switch {
		case sources == 0:
			errs = append(errs, field.Invalid(path, "", "must specify one of: `configMapRef` or `secretRef`"))
		case sources > 1:
			errs = append(errs, field.Invalid(path, "", "may not have more than one field specified at a time"))
		}
	}
	return errs
}
