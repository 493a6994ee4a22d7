// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package openapi

import (
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
)

// resource is what a document says of one kind.
type resource struct {
	*api.Kind
	verbs []string
	// absence is what is said of a kind that berth does not have, in place of its
	// Go types.
	absence string
}

// resources returns the rows of both tables of kinds.
func resources() []resource {
	var out []resource
	for _, k := range api.Kinds {
		out = append(out, resource{Kind: k, verbs: k.Verbs})
	}
	for _, k := range api.AbsentKinds {
		// Before it sends an object, kubectl looks whether PATCH of its kind has the
		// parameter fieldValidation.
		verbs := slices.Concat(k.Verbs, []string{"patch"})
		out = append(out, resource{Kind: &k.Kind, verbs: verbs, absence: k.Instead()})
	}
	return out
}

// resourcesBelow returns those that are served below a path such as /api/v1.
func resourcesBelow(path string) []resource {
	return slices.DeleteFunc(resources(), func(r resource) bool { return r.Path() != path })
}

// addTo describes the objects of the resource and their list, and returns the
// names of the two schemas.
func (r resource) addTo(m *models) (object, list string) {
	gvk := r.GroupVersionKind()
	listGVK := gvk.GroupVersion().WithKind(gvk.Kind + "List")
	if r.absence != "" {
		return m.addAbsent(reflect.TypeFor[metav1.PartialObjectMetadata](), gvk, r.absence),
			m.addAbsent(reflect.TypeFor[metav1.List](), listGVK, r.absence)
	}
	return m.addKind(reflect.TypeOf(r.New()).Elem(), gvk), m.addKind(reflect.TypeOf(r.NewList()).Elem(), listGVK)
}
