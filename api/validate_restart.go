// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// How many rules a container may have, and how many exit codes each.
const (
	maxRestartRules = 20
	maxExitCodes    = 255
)

// validateRestart looks at a container's own restart policy and the rules above it.
func validateRestart(c *corev1.Container, path *field.Path) (errs field.ErrorList) {
	switch {
	case c.RestartPolicy != nil:
		errs = oneOf(path.Child("restartPolicy"), *c.RestartPolicy,
			corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyNever, corev1.ContainerRestartPolicyOnFailure)
	case len(c.RestartPolicyRules) > 0:
		errs = field.ErrorList{field.Required(path.Child("restartPolicy"), "must specify restartPolicy when restart rules are used")}
	}
	at := path.Child("restartPolicyRules")
	if n := len(c.RestartPolicyRules); n > maxRestartRules {
		errs = append(errs, field.TooMany(at, n, maxRestartRules))
	}
	for i := range c.RestartPolicyRules {
		errs = append(errs, validateRestartRule(&c.RestartPolicyRules[i], at.Index(i))...)
	}
	return errs
}

func validateRestartRule(r *corev1.ContainerRestartRule, path *field.Path) field.ErrorList {
	errs := oneOf(path.Child("action"), r.Action, corev1.ContainerRestartRuleActionRestart)
	if r.ExitCodes == nil {
		return append(errs, field.Required(path.Child("exitCodes"), "must be specified"))
	}
	at := path.Child("exitCodes")
	errs = append(errs, oneOf(at.Child("operator"), r.ExitCodes.Operator,
		corev1.ContainerRestartRuleOnExitCodesOpIn, corev1.ContainerRestartRuleOnExitCodesOpNotIn)...)
	if n := len(r.ExitCodes.Values); n > maxExitCodes {
		errs = append(errs, field.TooMany(at.Child("values"), n, maxExitCodes))
	}
	return errs
}
