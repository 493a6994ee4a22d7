// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import "k8s.io/apimachinery/pkg/util/validation/field"

// ValidateCreate returns what is wrong with a new object of kind k that has been
// defaulted.
func ValidateCreate(k *Kind, obj Object) field.ErrorList { return nil }

// ValidateUpdate returns what is wrong with an object that shall replace old,
// and with changing it so.
func ValidateUpdate(k *Kind, obj, old Object) field.ErrorList { return nil }

// ValidateStatusUpdate returns what is wrong with the status of an object that
// shall replace old.
func ValidateStatusUpdate(k *Kind, obj, old Object) field.ErrorList { return nil }
