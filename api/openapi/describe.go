// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package openapi

import (
	"reflect"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/berth-run/berth/api"
)

// describe returns the schemas and the paths of resources.
func describe(d dialect, of []resource) (*models, []path) {
	m := newModels(d)
	common := parts{
		patch:   m.add(reflect.TypeFor[metav1.Patch]()),
		options: m.addKind(deleteOptions, deleteOptionsKinds(of)...),
		status:  m.addKind(reflect.TypeFor[metav1.Status](), metav1.Unversioned.WithKind("Status")),
	}
	var paths []path
	for _, r := range of {
		p := common
		p.object, p.list = r.addTo(m)
		paths = append(paths, r.paths(p)...)
		switch r.Kind {
		case api.Pods:
			m.addKind(reflect.TypeFor[corev1.Binding](), corev1.SchemeGroupVersion.WithKind("Binding"))
		case api.ServiceAccounts:
			m.addKind(reflect.TypeFor[authenticationv1.TokenRequest](), authenticationv1.SchemeGroupVersion.WithKind("TokenRequest"))
		}
	}
	return m, paths
}

// deleteOptionsKinds: the options of a deletion are a kind of every version.
func deleteOptionsKinds(of []resource) []schema.GroupVersionKind {
	var out []schema.GroupVersionKind
	seen := map[schema.GroupVersion]bool{}
	for _, r := range of {
		if gv := r.GroupVersionKind().GroupVersion(); !seen[gv] {
			seen[gv] = true
			out = append(out, gv.WithKind("DeleteOptions"))
		}
	}
	return out
}
