// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validatePodSpec(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	errs := unsupportedFields(spec, path)
	volumes, volumeErrs := validateVolumes(spec.Volumes, path.Child("volumes"))
	errs = append(errs, volumeErrs...)
	errs = append(errs, validateContainers(spec, volumes, path)...)
	errs = append(errs, validateFileKeyVolumes(spec)...)
	errs = append(errs, validateHostPorts(spec)...)
	errs = append(errs, oneOf(path.Child("restartPolicy"), spec.RestartPolicy,
		corev1.RestartPolicyAlways, corev1.RestartPolicyNever, corev1.RestartPolicyOnFailure)...)
	errs = append(errs, validateOS(spec.OS, path.Child("os"))...)
	errs = append(errs, validatePodTimes(spec, path)...)
	errs = append(errs, validatePodSecurity(spec, path.Child("securityContext"))...)
	errs = append(errs, validateContainersSecurity(spec)...)
	errs = append(errs, validateNamespaces(spec, path)...)
	errs = append(errs, validateNames(spec, path)...)
	errs = append(errs, validateDNS(spec, path)...)
	errs = append(errs, validateClasses(spec, path)...)
	errs = append(errs, validatePodResources(spec, path.Child("resources"))...)
	errs = append(errs, metavalidation.ValidateLabels(spec.NodeSelector, path.Child("nodeSelector"))...)
	errs = append(errs, validateTolerations(spec.Tolerations, path.Child("tolerations"))...)
	errs = append(errs, validateReadinessGates(spec.ReadinessGates, path.Child("readinessGates"))...)
	if spec.NodeName != "" {
		errs = append(errs, invalidAll(path.Child("nodeName"), spec.NodeName, apivalidation.NameIsDNSSubdomain(spec.NodeName, false))...)
	}
	errs = append(errs, invalidAll(path.Child("schedulerName"), spec.SchedulerName,
		apivalidation.NameIsDNSSubdomain(spec.SchedulerName, false))...)
	if spec.ServiceAccountName != "" {
		errs = append(errs, invalidAll(path.Child("serviceAccountName"), spec.ServiceAccountName,
			apivalidation.ValidateServiceAccountName(spec.ServiceAccountName, false))...)
	}
	for i, secret := range spec.ImagePullSecrets {
		errs = append(errs, requiredOr(path.Child("imagePullSecrets").Index(i).Child("name"), secret.Name, validation.IsDNS1123Subdomain)...)
	}
	return errs
}

// validateOS: which names are honoured is for the table of fields to say.
func validateOS(os *corev1.PodOS, path *field.Path) field.ErrorList {
	if os == nil || os.Name != "" {
		return nil
	}
	return field.ErrorList{field.Required(path.Child("name"), "cannot be empty")}
}

func validatePodTimes(spec *corev1.PodSpec, path *field.Path) (errs field.ErrorList) {
	if g := spec.TerminationGracePeriodSeconds; g != nil {
		errs = append(errs, apivalidation.ValidateNonnegativeField(*g, path.Child("terminationGracePeriodSeconds"))...)
	}
	if d := spec.ActiveDeadlineSeconds; d != nil && (*d < 1 || *d > math.MaxInt32) {
		errs = append(errs, field.Invalid(path.Child("activeDeadlineSeconds"), *d, validation.InclusiveRangeError(1, math.MaxInt32)))
	}
	return errs
}

func validatePodStatus(status, old *corev1.PodStatus) (errs field.ErrorList) {
	path := field.NewPath("status", "phase")
	errs = oneOf(path, status.Phase,
		corev1.PodPending, corev1.PodRunning, corev1.PodSucceeded, corev1.PodFailed, corev1.PodUnknown)
	if IsTerminalPhase(old.Phase) && status.Phase != old.Phase {
		errs = append(errs, field.Forbidden(path, "the pod has ended as "+string(old.Phase)+", which does not change"))
	}
	return errs
}
