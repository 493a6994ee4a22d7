// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"reflect"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// podSpecTree is built on first use: it never changes.
var podSpecTree = sync.OnceValue(func() *fieldTree { return newFieldTree(podSpecFields()) })

// unsupportedFields refuses what a PodSpec asks for and berth does not honour,
// each with its path.
func unsupportedFields(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	return walkFields(reflect.ValueOf(spec).Elem(), podSpecTree(), path)
}

// walkFields looks at every value that is set, down to where the table decides.
func walkFields(v reflect.Value, t *fieldTree, path *field.Path) (errs field.ErrorList) {
	switch {
	case v.Kind() == reflect.Pointer && !v.IsNil():
		return walkFields(v.Elem(), t, path)
	case t != nil && t.rule != nil:
		if reason := t.rule.refusal(v); reason != "" {
			return field.ErrorList{field.Forbidden(path, reason)}
		}
		return nil
	case t == nil || t.children == nil:
		return field.ErrorList{field.Forbidden(path, notHonoured)}
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			errs = append(errs, walkFields(v.Index(i), t.child("[]"), path.Index(i))...)
		}
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			errs = append(errs, walkField(v.Type().Field(i), v.Field(i), t, path)...)
		}
	}
	return errs
}

// walkField looks at one field of a struct. A struct without a JSON name is
// inlined: its fields are its parent's.
func walkField(f reflect.StructField, v reflect.Value, t *fieldTree, path *field.Path) field.ErrorList {
	if isUnset(v) {
		return nil
	}
	name := jsonName(f)
	if name == "" {
		return walkFields(v, t, path)
	}
	return walkFields(v, t.child(name), path.Child(name))
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

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
