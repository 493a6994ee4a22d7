// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package openapi

import (
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/util"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// models collects the schemas of Go types, each under its model name, with those
// of all types that it reaches.
type models struct {
	dialect dialect
	schemas map[string]spec.Schema
}

func newModels(d dialect) *models { return &models{dialect: d, schemas: map[string]spec.Schema{}} }

// add makes sure that the schema of a struct is there, and returns its name.
func (m *models) add(t reflect.Type) string {
	name := modelName(t)
	if _, ok := m.schemas[name]; !ok {
		m.schemas[name] = spec.Schema{} // a type that reaches itself ends here
		m.schemas[name] = m.model(t)
	}
	return name
}

// addKind is add for a type that is a kind.
func (m *models) addKind(t reflect.Type, gvks ...schema.GroupVersionKind) string {
	name := m.add(t)
	s := m.schemas[name]
	s.AddExtension(groupVersionKind, gvkExtensions(gvks))
	m.schemas[name] = s
	return name
}

func gvkExtensions(gvks []schema.GroupVersionKind) []any {
	var out []any
	for _, gvk := range gvks {
		out = append(out, gvkExtension(gvk))
	}
	return out
}

// addAbsent describes a kind that berth does not have by what to do instead, with
// the fields of t, which every kind has.
func (m *models) addAbsent(t reflect.Type, gvk schema.GroupVersionKind, instead string) string {
	s := m.model(t)
	s.Description = instead
	s.AddExtension(groupVersionKind, gvkExtensions([]schema.GroupVersionKind{gvk}))
	s.AddExtension("x-kubernetes-preserve-unknown-fields", true)
	name := absentName(gvk)
	m.schemas[name] = s
	return name
}

func absentName(gvk schema.GroupVersionKind) string {
	group, _, _ := strings.Cut(gvk.Group, ".")
	if group == "" {
		group = "core"
	}
	return strings.Join([]string{"io.k8s.api", group, gvk.Version, gvk.Kind}, ".")
}

// modelName is the name that Kubernetes generates for a type, or makes from its
// path where it generates none.
func modelName(t reflect.Type) string {
	value := reflect.Zero(t).Interface()
	if namer, ok := value.(util.OpenAPIModelNamer); ok {
		return namer.OpenAPIModelName()
	}
	return util.ToRESTFriendlyName(util.GetCanonicalTypeName(value))
}

// model describes a struct.
func (m *models) model(t reflect.Type) spec.Schema {
	s, ok := m.dialect.ownSchema(t)
	if !ok {
		s.Type = []string{"object"}
		m.addFields(&s, t)
	}
	s.Description = swaggerDoc(t)[""]
	if atomicTypes[t.Name()] {
		s.AddExtension(mapType, "atomic")
	}
	return s
}

// addFields describes the fields of a struct as properties of s. Those of an
// inlined struct are the outer one's.
func (m *models) addFields(s *spec.Schema, t reflect.Type) {
	docs := swaggerDoc(t)
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
		case name == "":
			m.addFields(s, pointedTo(f.Type))
		default:
			s.SetProperty(name, m.property(t, f, docs[name]))
			if isRequired(t, name, options) {
				s.Required = append(s.Required, name)
			}
		}
	}
}

// property describes one field of owner.
func (m *models) property(owner reflect.Type, f reflect.StructField, doc string) spec.Schema {
	s := m.value(f.Type)
	if s.Ref.String() != "" {
		s = m.dialect.describeRef(s, doc)
	}
	s.Description = doc
	addMarkers(&s, owner, f)
	return s
}

// value describes what a Go type is in JSON.
func (m *models) value(t reflect.Type) spec.Schema {
	if s, ok := scalars[t.Kind()]; ok {
		return s
	}
	switch t.Kind() {
	case reflect.Pointer:
		return m.value(t.Elem())
	case reflect.Struct:
		return m.dialect.ref(m.add(t))
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return scalar("string", "byte")
		}
		items := m.value(t.Elem())
		return spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"array"}, Items: &spec.SchemaOrArray{Schema: &items}}}
	case reflect.Map:
		values := m.value(t.Elem())
		return spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"},
			AdditionalProperties: &spec.SchemaOrBool{Allows: true, Schema: &values}}}
	}
	return scalar("object", "")
}

func pointedTo(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// swaggerDoc returns the descriptions that Kubernetes generates from the comments
// of a type: that of a field under its JSON name, the type's own under "".
func swaggerDoc(t reflect.Type) map[string]string {
	if d, ok := reflect.Zero(t).Interface().(interface{ SwaggerDoc() map[string]string }); ok {
		return d.SwaggerDoc()
	}
	return nil
}
