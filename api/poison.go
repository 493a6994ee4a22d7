// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// poison finds values that one form of an object can hold and another cannot, so
// that a reader would fail on them later: texts that are not UTF-8 (proto3) and
// times outside the years 1 to 9999 (JSON and google.protobuf.Timestamp).
func poison(obj Object) field.ErrorList {
	return poisonIn(reflect.ValueOf(obj).Elem(), nil)
}

func poisonIn(v reflect.Value, path *field.Path) (errs field.ErrorList) {
	switch v.Kind() {
	case reflect.String:
		return poisonText(v.String(), path)
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return poisonIn(v.Elem(), path)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return nil
		}
		for i := range v.Len() {
			errs = append(errs, poisonIn(v.Index(i), path.Index(i))...)
		}
	case reflect.Map:
		for entries := v.MapRange(); entries.Next(); {
			key := entries.Key().String()
			shown := strings.ToValidUTF8(key, "\uFFFD")
			errs = append(errs, poisonText(key, path.Key(shown))...)
			errs = append(errs, poisonIn(entries.Value(), path.Key(shown))...)
		}
	case reflect.Struct:
		return poisonInStruct(v, path)
	}
	return errs
}

func poisonInStruct(v reflect.Value, path *field.Path) (errs field.ErrorList) {
	switch v.Type() {
	case timeType:
		return poisonTime(v.Interface().(metav1.Time).Time, path)
	case microTimeType:
		return poisonTime(v.Interface().(metav1.MicroTime).Time, path)
	case quantityType:
		return nil
	}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if v.Field(i).IsZero() {
			continue
		}
		errs = append(errs, poisonIn(v.Field(i), childPath(path, jsonName(f)))...)
	}
	return errs
}

// childPath adds a field's name to a path that may be that of the whole object.
// Inlined structs have no name.
func childPath(path *field.Path, name string) *field.Path {
	switch {
	case name == "":
		return path
	case path == nil:
		return field.NewPath(name)
	}
	return path.Child(name)
}

func poisonText(text string, path *field.Path) field.ErrorList {
	if utf8.ValidString(text) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, strconv.Quote(text), "must be valid UTF-8")}
}

func poisonTime(t time.Time, path *field.Path) field.ErrorList {
	if year := t.UTC().Year(); t.IsZero() || (year >= 1 && year <= 9999) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, fmt.Sprint(t.Unix()), "must be a time in the years 1 to 9999")}
}
