// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateProbes looks at the probes of a container that is to run on.
func validateProbes(c *corev1.Container, path *field.Path) (errs field.ErrorList) {
	for _, p := range []struct {
		name     string
		probe    *corev1.Probe
		validate func(*corev1.Probe, *field.Path) field.ErrorList
	}{
		{"livenessProbe", c.LivenessProbe, validateKillingProbe},
		{"readinessProbe", c.ReadinessProbe, validateReadinessProbe},
		{"startupProbe", c.StartupProbe, validateKillingProbe},
	} {
		if p.probe != nil {
			at := path.Child(p.name)
			errs = append(errs, validateProbe(p.probe, at)...)
			errs = append(errs, p.validate(p.probe, at)...)
		}
	}
	return errs
}

// validateKillingProbe: the first success of a liveness or startup probe is enough.
func validateKillingProbe(p *corev1.Probe, path *field.Path) field.ErrorList {
	if p.SuccessThreshold == 1 {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("successThreshold"), p.SuccessThreshold, "must be 1")}
}

// validateReadinessProbe: it kills nothing.
func validateReadinessProbe(p *corev1.Probe, path *field.Path) field.ErrorList {
	if p.TerminationGracePeriodSeconds == nil {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("terminationGracePeriodSeconds"), *p.TerminationGracePeriodSeconds,
		"must not be set for readinessProbes")}
}

func validateProbe(p *corev1.Probe, path *field.Path) field.ErrorList {
	set := commonHandlers(p.Exec, p.HTTPGet, p.TCPSocket)
	if p.GRPC != nil {
		set = append(set, handler{"grpc", func(path *field.Path) field.ErrorList {
			return invalidAll(path.Child("port"), p.GRPC.Port, validation.IsValidPortNum(int(p.GRPC.Port)))
		}})
	}
	errs := validateHandlers(set, path)
	for _, n := range []struct {
		name  string
		value int32
	}{
		{"initialDelaySeconds", p.InitialDelaySeconds},
		{"timeoutSeconds", p.TimeoutSeconds},
		{"periodSeconds", p.PeriodSeconds},
		{"successThreshold", p.SuccessThreshold},
		{"failureThreshold", p.FailureThreshold},
	} {
		errs = append(errs, apivalidation.ValidateNonnegativeField(int64(n.value), path.Child(n.name))...)
	}
	if g := p.TerminationGracePeriodSeconds; g != nil && *g <= 0 {
		errs = append(errs, field.Invalid(path.Child("terminationGracePeriodSeconds"), *g, "must be greater than 0"))
	}
	return errs
}

func validateReadinessGates(gates []corev1.PodReadinessGate, path *field.Path) (errs field.ErrorList) {
	for i, g := range gates {
		at := path.Index(i).Child("conditionType")
		errs = append(errs, invalidAll(at, string(g.ConditionType), validation.IsQualifiedName(string(g.ConditionType)))...)
	}
	return errs
}
