// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// What probes and lifecycle hooks do to a container.

// handler is one way to reach into a container, named as in a manifest; validate
// looks at it below its path.
type handler struct {
	name     string
	validate func(*field.Path) field.ErrorList
}

// validateHandlers looks at the handlers that are set, of which there has to be one.
func validateHandlers(set []handler, path *field.Path) (errs field.ErrorList) {
	if len(set) == 0 {
		return field.ErrorList{field.Required(path, "must specify a handler type")}
	}
	errs = set[0].validate(path.Child(set[0].name))
	for _, h := range set[1:] {
		errs = append(errs, field.Forbidden(path.Child(h.name), "may not specify more than 1 handler type"))
	}
	return errs
}

// commonHandlers are those of the handlers that probes and hooks share that are set.
func commonHandlers(exec *corev1.ExecAction, get *corev1.HTTPGetAction, tcp *corev1.TCPSocketAction) (set []handler) {
	if exec != nil {
		set = append(set, handler{"exec", func(path *field.Path) field.ErrorList { return validateExec(exec, path) }})
	}
	if get != nil {
		set = append(set, handler{"httpGet", func(path *field.Path) field.ErrorList { return validateHTTPGet(get, path) }})
	}
	if tcp != nil {
		set = append(set, handler{"tcpSocket", func(path *field.Path) field.ErrorList { return validatePortNumOrName(tcp.Port, path.Child("port")) }})
	}
	return set
}

func validateExec(exec *corev1.ExecAction, path *field.Path) (errs field.ErrorList) {
	if len(exec.Command) == 0 {
		return field.ErrorList{field.Required(path.Child("command"), "")}
	}
	for i, word := range exec.Command {
		errs = append(errs, withoutNUL(word, path.Child("command").Index(i))...)
	}
	return errs
}

func validateHTTPGet(get *corev1.HTTPGetAction, path *field.Path) (errs field.ErrorList) {
	if get.Path == "" {
		errs = append(errs, field.Required(path.Child("path"), ""))
	}
	errs = append(errs, validatePortNumOrName(get.Port, path.Child("port"))...)
	errs = append(errs, oneOf(path.Child("scheme"), get.Scheme, corev1.URISchemeHTTP, corev1.URISchemeHTTPS)...)
	errs = append(errs, validateHTTPProtocol(get, path.Child("protocol"))...)
	for _, h := range get.HTTPHeaders {
		errs = append(errs, invalidAll(path.Child("httpHeaders"), h.Name, validation.IsHTTPHeaderName(h.Name))...)
	}
	return errs
}

func validateHTTPProtocol(get *corev1.HTTPGetAction, path *field.Path) field.ErrorList {
	switch {
	case get.Protocol == nil:
		return nil
	case *get.Protocol == corev1.HTTPProtocolHTTP2 && get.Scheme == corev1.URISchemeHTTPS:
		return field.ErrorList{field.Invalid(path, *get.Protocol, "must be used with scheme HTTP")}
	}
	return oneOf(path, *get.Protocol, corev1.HTTPProtocolHTTP1, corev1.HTTPProtocolHTTP2)
}

func validatePortNumOrName(port intstr.IntOrString, path *field.Path) field.ErrorList {
	if port.Type == intstr.String {
		return invalidAll(path, port.StrVal, validation.IsValidPortName(port.StrVal))
	}
	return invalidAll(path, port.IntValue(), validation.IsValidPortNum(port.IntValue()))
}
