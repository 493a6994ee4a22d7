// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// A walk through a whole object meets every value of every valid one. It makes no
// path on its way: what is wrong with a value gets the value's place as the walk
// returns.

// fieldError is an error of the value itself, whose place is not known yet.
func fieldError(t field.ErrorType, value, detail string) field.ErrorList {
	return field.ErrorList{{Type: t, BadValue: value, Detail: detail}}
}

// inField places errors that were found in a field. Inlined structs have no name.
func inField(name string, errs field.ErrorList) field.ErrorList {
	for _, e := range errs {
		switch {
		case name == "":
		case e.Field == "" || e.Field[0] == '[':
			e.Field = name + e.Field
		default:
			e.Field = name + "." + e.Field
		}
	}
	return errs
}

// inElement places errors that were found in an element of a list or a map.
func inElement(key any, errs field.ErrorList) field.ErrorList {
	if len(errs) == 0 {
		return nil
	}
	return inField(fmt.Sprintf("[%v]", key), errs)
}

var jsonNamesOf sync.Map // of []string, by the type

// jsonNames are those of a struct's fields, read from the tags once for each type.
func jsonNames(t reflect.Type) []string {
	if names, ok := jsonNamesOf.Load(t); ok {
		return names.([]string)
	}
	names := make([]string, t.NumField())
	for i := range names {
		names[i] = jsonName(t.Field(i))
	}
	jsonNamesOf.Store(t, names)
	return names
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
