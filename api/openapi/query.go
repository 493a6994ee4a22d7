// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package openapi

import (
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// parameter of a path or a query.
type parameter struct {
	name, in, kind, doc string
	required            bool
}

var (
	listOptions   = reflect.TypeFor[metav1.ListOptions]()
	createOptions = reflect.TypeFor[metav1.CreateOptions]()
	patchOptions  = reflect.TypeFor[metav1.PatchOptions]()
	updateOptions = reflect.TypeFor[metav1.UpdateOptions]()
	deleteOptions = reflect.TypeFor[metav1.DeleteOptions]()
	logOptions    = reflect.TypeFor[corev1.PodLogOptions]()
)

// query returns the fields of an options type as parameters; only those named, if
// any are.
func query(options reflect.Type, only ...string) []parameter {
	docs := swaggerDoc(options)
	var out []parameter
	for i := range options.NumField() {
		f := options.Field(i)
		name := jsonName(f)
		if name == "" || len(only) > 0 && !slices.Contains(only, name) {
			continue
		}
		out = append(out, parameter{name: name, in: "query", kind: queryType(f.Type), doc: docs[name]})
	}
	return out
}

// queryType is the type of a parameter. One that may be repeated has that of its
// items, as in Kubernetes.
func queryType(t reflect.Type) string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if s, ok := scalars[t.Kind()]; ok {
		return s.Type[0]
	}
	return "string" // a time
}

// pathParameters are those of the path, and what every request may have.
func pathParameters(namespaced, named bool) []parameter {
	out := []parameter{{name: "pretty", in: "query", kind: "string", doc: "Whether to indent JSON."}}
	if namespaced {
		out = append(out, parameter{name: "namespace", in: "path", kind: "string", doc: "The object's namespace.", required: true})
	}
	if named {
		out = append(out, parameter{name: "name", in: "path", kind: "string", doc: "The object's name.", required: true})
	}
	return out
}
