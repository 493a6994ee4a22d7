// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package openapi

import (
	"reflect"

	"k8s.io/kube-openapi/pkg/validation/spec"
)

// scalars are the schemas of what is no object and no list.
var scalars = map[reflect.Kind]spec.Schema{
	reflect.String:  scalar("string", ""),
	reflect.Bool:    scalar("boolean", ""),
	reflect.Int:     scalar("integer", "int32"),
	reflect.Int32:   scalar("integer", "int32"),
	reflect.Int64:   scalar("integer", "int64"),
	reflect.Uint8:   scalar("integer", "int64"),
	reflect.Uint16:  scalar("integer", "int32"),
	reflect.Uint32:  scalar("integer", "int64"),
	reflect.Float32: scalar("number", "float"),
	reflect.Float64: scalar("number", "double"),
}

func scalar(kind, format string) spec.Schema {
	return spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{kind}, Format: format}}
}

// ownSchema returns the schema of a type that says itself what it is in JSON,
// such as a time or a quantity.
func (d dialect) ownSchema(t reflect.Type) (s spec.Schema, ok bool) {
	own, ok := reflect.Zero(t).Interface().(interface {
		OpenAPISchemaType() []string
		OpenAPISchemaFormat() string
	})
	if !ok {
		return s, false
	}
	s.Type, s.Format = own.OpenAPISchemaType(), own.OpenAPISchemaFormat()
	if one, ok := own.(interface{ OpenAPIV3OneOfTypes() []string }); ok && d == v3 {
		s.Type = nil
		for _, kind := range one.OpenAPIV3OneOfTypes() {
			s.OneOf = append(s.OneOf, scalar(kind, ""))
		}
	}
	return s, true
}
