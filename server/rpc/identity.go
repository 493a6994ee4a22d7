// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
)

// namespaceOf returns the namespace of the one object that a request means. Over
// gRPC a request may leave its namespace and name to the object that it carries,
// and "default" to us; the registry refuses what does not agree.
func namespaceOf(k *api.Kind, requested string, carried metav1.Object) string {
	switch {
	case !k.Namespaced:
		return metav1.NamespaceNone
	case requested != "":
		return requested
	case carried != nil && carried.GetNamespace() != "":
		return carried.GetNamespace()
	}
	return metav1.NamespaceDefault
}

func nameOf(requested string, carried metav1.Object) string {
	if requested != "" {
		return requested
	}
	return carried.GetName()
}
