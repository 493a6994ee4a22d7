// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// DefaultServiceAccount is the account of pods that name none; every namespace has
// it.
const DefaultServiceAccount = "default"

// ServiceAccountOf returns the name of the pod's ServiceAccount.
func ServiceAccountOf(pod *corev1.Pod) string {
	if pod.Spec.ServiceAccountName == "" {
		return DefaultServiceAccount
	}
	return pod.Spec.ServiceAccountName
}

// DefaultTokenRequest sets what Kubernetes sets.
func DefaultTokenRequest(r *authenticationv1.TokenRequest) {
	setDefaultPointer(&r.Spec.ExpirationSeconds, defaultTokenSeconds)
}

// ValidateTokenRequest looks at a defaulted request.
func ValidateTokenRequest(r *authenticationv1.TokenRequest) field.ErrorList {
	return validateTokenSeconds(r.Spec.ExpirationSeconds, field.NewPath("spec", "expirationSeconds"))
}

// Kubernetes' bounds of a token's life, and what it is if nobody says.
const (
	minTokenSeconds           = 10 * 60
	maxTokenSeconds           = 1 << 32
	defaultTokenSeconds int64 = 60 * 60
)

func validateTokenSeconds(seconds *int64, fldPath *field.Path) field.ErrorList {
	switch {
	case seconds == nil:
		return field.ErrorList{field.Required(fldPath, "")}
	case *seconds < minTokenSeconds:
		return field.ErrorList{field.Invalid(fldPath, *seconds, "may not specify a duration less than 10 minutes")}
	case *seconds > maxTokenSeconds:
		return field.ErrorList{field.Invalid(fldPath, *seconds, "may not specify a duration larger than 2^32 seconds")}
	}
	return nil
}
