// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package openapi

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/randfill"

	"github.com/berth-run/berth/api"
)

// filled returns an object of the kind that has every field, and one item in
// every list and map.
func filled(k *api.Kind, seed int64) api.Object {
	obj := k.New()
	randfill.NewWithSeed(seed).NilChance(0).NumElements(1, 1).MaxDepth(20).Funcs(
		func(t *metav1.TypeMeta, _ randfill.Continue) {
			*t = metav1.TypeMeta{APIVersion: k.GroupVersionKind().GroupVersion().String(), Kind: k.Name}
		},
		func(t *metav1.Time, c randfill.Continue) { t.Time = time.Unix(c.Rand.Int63n(1<<33)+1, 0) },
		func(t *metav1.MicroTime, c randfill.Continue) { t.Time = time.Unix(c.Rand.Int63n(1<<33)+1, 0) },
		func(q *apiresource.Quantity, c randfill.Continue) {
			*q = *apiresource.NewQuantity(c.Rand.Int63n(1<<40), apiresource.BinarySI)
		},
		func(v *intstr.IntOrString, c randfill.Continue) { *v = intstr.FromInt32(c.Rand.Int31()) },
		func(f *metav1.FieldsV1, _ randfill.Continue) { f.SetRawString(`{"f:metadata":{}}`) },
		func(s *string, c randfill.Continue) { *s = fmt.Sprint("s", c.Rand.Int31()) },
	).Fill(obj)
	return obj
}

// TestSchemasDescribeObjects walks the JSON of filled objects beside their
// schemas: a field that no schema describes, or describes as another type, fails.
func TestSchemasDescribeObjects(t *testing.T) {
	for name, schemas := range documents(t) {
		for _, k := range api.Kinds {
			t.Run(name+" "+k.Name, func(t *testing.T) {
				body, err := json.Marshal(filled(k, 1))
				if err != nil {
					t.Fatal(err)
				}
				var value any
				if err := json.Unmarshal(body, &value); err != nil {
					t.Fatal(err)
				}
				root, ok := schemaOf(schemas, k)
				if !ok {
					t.Fatalf("no schema has the kind %s", k.GroupVersionKind())
				}
				w := walker{schemas: schemas}
				w.walk(k.Name, value, root)
				if w.problems != nil || w.fields < 20 {
					t.Errorf("%d fields, %q", w.fields, w.problems)
				}
			})
		}
	}
}

// documents returns the schemas of both versions, by their names in a document.
func documents(t *testing.T) map[string]map[string]spec.Schema {
	third := map[string]spec.Schema{}
	for _, path := range Paths() {
		for name, s := range V3(path, "v1").Components.Schemas {
			third[string(v3)+name] = *s
		}
	}
	second := map[string]spec.Schema{}
	for name, s := range V2("v1").Definitions {
		second[string(v2)+name] = s
	}
	return map[string]map[string]spec.Schema{"v2": second, "v3": third}
}

func schemaOf(schemas map[string]spec.Schema, k *api.Kind) (spec.Schema, bool) {
	for _, s := range schemas {
		var gvks []metav1.GroupVersionKind
		_ = s.Extensions.GetObject(groupVersionKind, &gvks)
		if slices.Contains(gvks, metav1.GroupVersionKind(k.GroupVersionKind())) {
			return s, true
		}
	}
	return spec.Schema{}, false
}

type walker struct {
	schemas  map[string]spec.Schema
	fields   int
	problems []string
}

func (w *walker) fail(path, format string, args ...any) {
	w.problems = append(w.problems, path+": "+fmt.Sprintf(format, args...))
}

func (w *walker) walk(path string, value any, s spec.Schema) {
	if len(s.AllOf) == 1 {
		s = s.AllOf[0]
	}
	if ref := s.Ref.String(); ref != "" {
		s = w.schemas[ref]
	}
	if !slices.ContainsFunc(typesOf(s), func(t string) bool { return fits(value, t) }) {
		w.fail(path, "a %T, want %v", value, typesOf(s))
	}
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			w.walk(path+"[]", item, *s.Items.Schema)
		}
	case map[string]any:
		w.walkFields(path, v, s)
	}
}

func (w *walker) walkFields(path string, fields map[string]any, s spec.Schema) {
	if s.Properties == nil && s.AdditionalProperties == nil && path != "" {
		return // an object of any form
	}
	for name, value := range fields {
		w.fields++
		switch property, ok := s.Properties[name]; {
		case ok:
			w.walk(path+"."+name, value, property)
		case s.AdditionalProperties != nil:
			w.walk(path+"{}", value, *s.AdditionalProperties.Schema)
		default:
			w.fail(path, "%s is not described", name)
		}
	}
	for _, name := range s.Required {
		if _, ok := s.Properties[name]; !ok {
			w.fail(path, "%s is required and not described", name)
		}
	}
}

func typesOf(s spec.Schema) []string {
	out := slices.Clone([]string(s.Type))
	for _, one := range s.OneOf {
		out = append(out, one.Type...)
	}
	if s.Format == "int-or-string" {
		out = append(out, "integer")
	}
	return out
}

func fits(value any, kind string) bool {
	switch v := value.(type) {
	case string:
		return kind == "string"
	case bool:
		return kind == "boolean"
	case float64:
		return kind == "number" || kind == "integer" && v == float64(int64(v))
	case []any:
		return kind == "array"
	case map[string]any:
		return kind == "object"
	}
	return false
}
