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
	return poisonIn(reflect.ValueOf(obj).Elem())
}

func poisonIn(v reflect.Value) (errs field.ErrorList) {
	switch v.Kind() {
	case reflect.String:
		return poisonText(v.String())
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return poisonIn(v.Elem())
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return nil
		}
		for i := range v.Len() {
			errs = append(errs, inElement(i, poisonIn(v.Index(i)))...)
		}
	case reflect.Map:
		for entries := v.MapRange(); entries.Next(); {
			errs = append(errs, poisonInEntry(entries.Key().String(), entries.Value())...)
		}
	case reflect.Struct:
		return poisonInStruct(v)
	}
	return errs
}

func poisonInEntry(key string, value reflect.Value) field.ErrorList {
	errs := append(poisonText(key), poisonIn(value)...)
	return inElement(strings.ToValidUTF8(key, "\uFFFD"), errs)
}

func poisonInStruct(v reflect.Value) (errs field.ErrorList) {
	switch v.Type() {
	case timeType:
		return poisonTime(v.Interface().(metav1.Time).Time)
	case microTimeType:
		return poisonTime(v.Interface().(metav1.MicroTime).Time)
	case quantityType:
		return nil
	}
	for i, name := range jsonNames(v.Type()) {
		if !v.Field(i).IsZero() {
			errs = append(errs, inField(name, poisonIn(v.Field(i)))...)
		}
	}
	return errs
}

func poisonText(text string) field.ErrorList {
	if utf8.ValidString(text) {
		return nil
	}
	return fieldError(field.ErrorTypeInvalid, strconv.Quote(text), "must be valid UTF-8")
}

func poisonTime(t time.Time) field.ErrorList {
	if year := t.UTC().Year(); t.IsZero() || (year >= 1 && year <= 9999) {
		return nil
	}
	return fieldError(field.ErrorTypeInvalid, fmt.Sprint(t.Unix()), "must be a time in the years 1 to 9999")
}
