// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package openapi

import (
	"reflect"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/api"
)

// subpaths returns the paths of the kind's subresources.
func (r resource) subpaths(item string, p parts) []path {
	if r.absence != "" {
		return nil
	}
	var out []path
	for _, s := range r.Subresources() {
		sub := resource{Kind: r.Kind, verbs: s.Verbs}
		at := sub.path(item+"/"+s.Name, title(s.Name), p, s.Verbs...)
		for i := range at.operations {
			special(&at.operations[i], s, p)
		}
		out = append(out, at)
	}
	return out
}

// special makes of the operation on an object what it is for a subresource that
// is no part of the object.
func special(op *operation, s api.Subresource, p parts) {
	switch s.Name {
	case "binding":
		op.gvk = corev1.SchemeGroupVersion.WithKind(s.Kind)
		op.body, op.answer = modelName(reflect.TypeFor[corev1.Binding]()), p.status
	case "token":
		op.gvk = authenticationv1.SchemeGroupVersion.WithKind(s.Kind)
		op.body = modelName(reflect.TypeFor[authenticationv1.TokenRequest]())
		op.answer = op.body
	case "log":
		op.answer, op.produces = "", []string{"text/plain"}
		op.query = query(logOptions, "container", "follow", "limitBytes", "previous", "sinceSeconds", "sinceTime", "tailLines", "timestamps")
	}
}
