// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// validatePodSecurity looks at the security context of the pod as a whole.
func validatePodSecurity(spec *corev1.PodSpec, path *field.Path) (errs field.ErrorList) {
	sc := spec.SecurityContext
	if sc == nil {
		return nil
	}
	errs = append(errs, validateIDs(sc.RunAsUser, sc.RunAsGroup, path)...)
	if sc.FSGroup != nil {
		errs = append(errs, invalidAll(path.Child("fsGroup"), *sc.FSGroup, validation.IsValidGroupID(*sc.FSGroup))...)
	}
	if policy := sc.FSGroupChangePolicy; policy != nil {
		errs = append(errs, oneOf(path.Child("fsGroupChangePolicy"), *policy, corev1.FSGroupChangeOnRootMismatch, corev1.FSGroupChangeAlways)...)
	}
	for i, group := range sc.SupplementalGroups {
		errs = append(errs, invalidAll(path.Child("supplementalGroups").Index(i), group, validation.IsValidGroupID(group))...)
	}
	if policy := sc.SupplementalGroupsPolicy; policy != nil {
		errs = append(errs, oneOf(path.Child("supplementalGroupsPolicy"), *policy,
			corev1.SupplementalGroupsPolicyMerge, corev1.SupplementalGroupsPolicyStrict)...)
	}
	errs = append(errs, validateSysctls(spec, path.Child("sysctls"))...)
	errs = append(errs, validateSeccomp(sc.SeccompProfile, path.Child("seccompProfile"))...)
	return append(errs, validateAppArmor(sc.AppArmorProfile, path.Child("appArmorProfile"))...)
}

func validateContainersSecurity(spec *corev1.PodSpec) (errs field.ErrorList) {
	eachContainer(spec, func(c *corev1.Container, path *field.Path) {
		if c.SecurityContext != nil {
			errs = append(errs, validateSecurity(c.SecurityContext, ownUsers(spec), path.Child("securityContext"))...)
		}
	})
	return errs
}

// validateSecurity looks at the security context of one container. ownUsers says that
// the pod has users of its own.
func validateSecurity(sc *corev1.SecurityContext, ownUsers bool, path *field.Path) (errs field.ErrorList) {
	errs = append(errs, validateIDs(sc.RunAsUser, sc.RunAsGroup, path)...)
	errs = append(errs, validateEscalation(sc, path)...)
	if sc.ProcMount != nil {
		errs = append(errs, validateProcMount(*sc.ProcMount, ownUsers, path.Child("procMount"))...)
	}
	errs = append(errs, validateSeccomp(sc.SeccompProfile, path.Child("seccompProfile"))...)
	return append(errs, validateAppArmor(sc.AppArmorProfile, path.Child("appArmorProfile"))...)
}

func validateIDs(user, group *int64, path *field.Path) (errs field.ErrorList) {
	if user != nil {
		errs = append(errs, invalidAll(path.Child("runAsUser"), *user, validation.IsValidUserID(*user))...)
	}
	if group != nil {
		errs = append(errs, invalidAll(path.Child("runAsGroup"), *group, validation.IsValidGroupID(*group))...)
	}
	return errs
}

// validateEscalation finds what gives more privileges and forbids that at once.
func validateEscalation(sc *corev1.SecurityContext, path *field.Path) (errs field.ErrorList) {
	if ptr.Deref(sc.AllowPrivilegeEscalation, true) {
		return nil
	}
	if ptr.Deref(sc.Privileged, false) {
		errs = append(errs, field.Invalid(path, sc, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"))
	}
	if sc.Capabilities != nil && slices.Contains(sc.Capabilities.Add, "CAP_SYS_ADMIN") {
		errs = append(errs, field.Invalid(path, sc, "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"))
	}
	return errs
}

func validateProcMount(mount corev1.ProcMountType, ownUsers bool, path *field.Path) field.ErrorList {
	if mount == corev1.UnmaskedProcMount && !ownUsers {
		return field.ErrorList{field.Invalid(path, mount, "`hostUsers` must be false to use `Unmasked`")}
	}
	return oneOf(path, mount, corev1.DefaultProcMount, corev1.UnmaskedProcMount)
}
