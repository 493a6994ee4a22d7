// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"regexp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-helpers/node/util/sysctl"
)

const maxSysctlName = 253

var sysctlName = regexp.MustCompile(`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`)

// validateSysctls: which of them are allowed is for the pod's node to say.
func validateSysctls(spec *corev1.PodSpec, path *field.Path) (errs field.ErrorList) {
	names := sets.New[string]()
	for i, s := range spec.SecurityContext.Sysctls {
		at := path.Index(i).Child("name")
		switch {
		case s.Name == "":
			errs = append(errs, field.Required(at, ""))
		case len(s.Name) > maxSysctlName || !sysctlName.MatchString(s.Name):
			errs = append(errs, field.Invalid(at, s.Name,
				fmt.Sprintf("must have at most %d characters and match regex %s", maxSysctlName, sysctlName)))
		case names.Has(s.Name):
			errs = append(errs, field.Duplicate(at, s.Name))
		}
		errs = append(errs, validateHostSysctl(s.Name, spec, at)...)
		errs = append(errs, withoutNUL(s.Value, path.Index(i).Child("value"))...)
		names.Insert(s.Name)
	}
	return errs
}

// validateHostSysctl refuses what would be set of the node's own namespace.
func validateHostSysctl(name string, spec *corev1.PodSpec, at *field.Path) field.ErrorList {
	switch ns, _, _ := sysctl.GetNamespace(name); {
	case spec.HostNetwork && ns == sysctl.NetNamespace:
		return field.ErrorList{field.Invalid(at, name, "may not be specified when 'hostNetwork' is true")}
	case spec.HostIPC && ns == sysctl.IPCNamespace:
		return field.ErrorList{field.Invalid(at, name, "may not be specified when 'hostIPC' is true")}
	}
	return nil
}
