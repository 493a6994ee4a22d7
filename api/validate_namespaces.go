// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// ownUsers tells whether the pod has users of its own and not its node's.
func ownUsers(spec *corev1.PodSpec) bool { return !ptr.Deref(spec.HostUsers, true) }

// validateNamespaces finds namespaces that exclude each other.
func validateNamespaces(spec *corev1.PodSpec, path *field.Path) (errs field.ErrorList) {
	if spec.HostPID && ptr.Deref(spec.ShareProcessNamespace, false) {
		errs = append(errs, field.Invalid(path.Child("shareProcessNamespace"), true,
			"ShareProcessNamespace and HostPID cannot both be enabled"))
	}
	if !ownUsers(spec) {
		return errs
	}
	return append(errs, forbidden([]setField{
		{"hostNetwork", spec.HostNetwork}, {"hostPID", spec.HostPID}, {"hostIPC", spec.HostIPC},
	}, path, "when `hostUsers` is false")...)
}
