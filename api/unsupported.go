// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"reflect"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// podSpecTree is built on first use: it never changes.
var podSpecTree = sync.OnceValue(func() *fieldTree { return newFieldTree(podSpecFields()) })

// unsupportedFields refuses what a PodSpec asks for and berth does not honour,
// each with its path.
func unsupportedFields(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	errs := walkFields(reflect.ValueOf(spec).Elem(), podSpecTree())
	if len(errs) == 0 {
		return nil
	}
	return inField(path.String(), errs)
}

// walkFields looks at every value that is set, down to where the table decides.
func walkFields(v reflect.Value, t *fieldTree) (errs field.ErrorList) {
	switch {
	case v.Kind() == reflect.Pointer && !v.IsNil():
		return walkFields(v.Elem(), t)
	case t != nil && t.rule != nil:
		if reason := t.rule.refusal(v); reason != "" {
			return fieldError(field.ErrorTypeForbidden, "", reason)
		}
		return nil
	case t == nil || t.children == nil:
		return fieldError(field.ErrorTypeForbidden, "", notHonoured)
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			errs = append(errs, inElement(i, walkFields(v.Index(i), t.child("[]")))...)
		}
	case v.Kind() == reflect.Struct:
		for i, name := range jsonNames(v.Type()) {
			errs = append(errs, inField(name, walkField(name, v.Field(i), t))...)
		}
	}
	return errs
}

// walkField looks at one field of a struct. A struct without a JSON name is
// inlined: its fields are its parent's.
func walkField(name string, v reflect.Value, t *fieldTree) field.ErrorList {
	switch {
	case isUnset(v):
		return nil
	case name == "":
		return walkFields(v, t)
	}
	return walkFields(v, t.child(name))
}

// isUnset tells whether a field says nothing: an empty list or map says no more
// than none.
func isUnset(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	}
	return v.IsZero()
}
