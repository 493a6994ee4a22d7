// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	corev1 "k8s.io/api/core/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var taintEffects = []corev1.TaintEffect{
	corev1.TaintEffectNoExecute, corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule,
}

func validateTolerations(tolerations []corev1.Toleration, path *field.Path) (errs field.ErrorList) {
	for i := range tolerations {
		t, at := &tolerations[i], path.Index(i)
		if t.Key != "" {
			errs = append(errs, metavalidation.ValidateLabelName(t.Key, at.Child("key"))...)
		} else if t.Operator != corev1.TolerationOpExists {
			errs = append(errs, field.Invalid(at.Child("operator"), t.Operator,
				"operator must be Exists when `key` is empty, which means \"match all values and all keys\""))
		}
		if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
			errs = append(errs, field.Invalid(at.Child("effect"), t.Effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"))
		}
		if t.Effect != "" {
			errs = append(errs, oneOf(at.Child("effect"), t.Effect, taintEffects...)...)
		}
		errs = append(errs, validateTolerationOperator(t, at)...)
	}
	return errs
}

func validateTolerationOperator(t *corev1.Toleration, path *field.Path) field.ErrorList {
	switch t.Operator {
	case corev1.TolerationOpEqual, "":
		return invalidAll(path.Child("value"), t.Value, validation.IsValidLabelValue(t.Value))
	case corev1.TolerationOpExists:
		if t.Value != "" {
			return field.ErrorList{field.Invalid(path.Child("value"), t.Value, "value must be empty when `operator` is 'Exists'")}
		}
		return nil
	}
	return field.ErrorList{field.NotSupported(path.Child("operator"), t.Operator,
		[]corev1.TolerationOperator{corev1.TolerationOpEqual, corev1.TolerationOpExists})}
}

func validateTaints(taints []corev1.Taint, path *field.Path) (errs field.ErrorList) {
	type identity struct {
		key    string
		effect corev1.TaintEffect
	}
	seen := sets.New[identity]()
	for i, t := range taints {
		at := path.Index(i)
		errs = append(errs, requiredOr(at.Child("key"), t.Key, validation.IsQualifiedName)...)
		errs = append(errs, invalidAll(at.Child("value"), t.Value, validation.IsValidLabelValue(t.Value))...)
		errs = append(errs, oneOf(at.Child("effect"), t.Effect, taintEffects...)...)
		if id := (identity{t.Key, t.Effect}); seen.Has(id) {
			errs = append(errs, field.Duplicate(at, t.ToString()))
		} else {
			seen.Insert(id)
		}
	}
	return errs
}
