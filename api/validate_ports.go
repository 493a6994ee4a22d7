// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validatePorts(ports []corev1.ContainerPort, path *field.Path) (errs field.ErrorList) {
	names := sets.New[string]()
	for i, p := range ports {
		at := path.Index(i)
		if p.Name != "" {
			errs = append(errs, invalidAll(at.Child("name"), p.Name, validation.IsValidPortName(p.Name))...)
			if names.Has(p.Name) {
				errs = append(errs, field.Duplicate(at.Child("name"), p.Name))
			}
			names.Insert(p.Name)
		}
		errs = append(errs, validatePort(p, at)...)
	}
	return errs
}

func validatePort(p corev1.ContainerPort, path *field.Path) (errs field.ErrorList) {
	if p.ContainerPort == 0 {
		errs = append(errs, field.Required(path.Child("containerPort"), ""))
	} else {
		errs = append(errs, invalidAll(path.Child("containerPort"), p.ContainerPort, validation.IsValidPortNum(int(p.ContainerPort)))...)
	}
	if p.HostPort != 0 {
		errs = append(errs, invalidAll(path.Child("hostPort"), p.HostPort, validation.IsValidPortNum(int(p.HostPort)))...)
	}
	if p.HostIP != "" {
		if _, err := netip.ParseAddr(p.HostIP); err != nil {
			errs = append(errs, field.Invalid(path.Child("hostIP"), p.HostIP, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"))
		}
	}
	return append(errs, oneOf(path.Child("protocol"), p.Protocol,
		corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP)...)
}
