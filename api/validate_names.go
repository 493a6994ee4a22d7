// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// maxHostname is how long the kernel lets a host's name be.
const maxHostname = 64

// validateNames looks at what the pod calls itself, and others.
func validateNames(spec *corev1.PodSpec, path *field.Path) (errs field.ErrorList) {
	if spec.Hostname != "" {
		errs = append(errs, invalidAll(path.Child("hostname"), spec.Hostname, validation.IsDNS1123Label(spec.Hostname))...)
	}
	if spec.Subdomain != "" {
		errs = append(errs, invalidAll(path.Child("subdomain"), spec.Subdomain, validation.IsDNS1123Label(spec.Subdomain))...)
	}
	if name := ptr.Deref(spec.HostnameOverride, ""); name != "" {
		errs = append(errs, validateHostnameOverride(name, spec, path)...)
	}
	return append(errs, validateHostAliases(spec.HostAliases, path.Child("hostAliases"))...)
}

func validateHostnameOverride(name string, spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	at := path.Child("hostnameOverride")
	errs := invalidAll(at, name, validation.IsDNS1123Subdomain(name))
	if len(name) > maxHostname {
		errs = append(errs, field.TooLong(at, name, maxHostname))
	}
	if spec.HostNetwork {
		errs = append(errs, field.Forbidden(at, "may not be set when `hostNetwork` is true"))
	}
	if ptr.Deref(spec.SetHostnameAsFQDN, false) {
		errs = append(errs, field.Forbidden(path.Child("setHostnameAsFQDN"), "may not be true when `hostnameOverride` is set"))
	}
	return errs
}

func validateHostAliases(aliases []corev1.HostAlias, path *field.Path) (errs field.ErrorList) {
	for i, a := range aliases {
		errs = append(errs, validation.IsValidIP(path.Index(i).Child("ip"), a.IP)...)
		for j, name := range a.Hostnames {
			errs = append(errs, invalidAll(path.Index(i).Child("hostnames").Index(j), name, validation.IsDNS1123Subdomain(name))...)
		}
	}
	return errs
}
