// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package openapi

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/berth-run/berth/api"
)

// TestMarkersOfTheSources holds the documents against the markers in the comments
// of Kubernetes' types, from which Kubernetes generates its own.
func TestMarkersOfTheSources(t *testing.T) {
	m := newModels(v2)
	for _, k := range api.Kinds {
		m.add(reflect.TypeOf(k.New()).Elem())
	}
	src := sources{}
	for typ := range reachable() {
		decl := src.typeOf(t, typ)
		for i := range typ.NumField() {
			f := typ.Field(i)
			if name := jsonName(f); name != "" && name != "-" {
				compareField(t, src, typ, f)
			}
		}
		schema := m.schemas[modelName(typ)]
		atomic := decl.markers["structType"] == "atomic" || decl.markers["mapType"] == "atomic"
		if got := schema.Extensions[mapType] == "atomic"; got != atomic {
			t.Errorf("%s: atomic is %t, want %t", typ.Name(), got, atomic)
		}
	}
}

func compareField(t *testing.T, src sources, typ reflect.Type, f reflect.StructField) {
	markers := src.typeOf(t, typ).fields[f.Name]
	var s spec.Schema
	addMarkers(&s, typ, f)
	name := jsonName(f)
	_, options, _ := strings.Cut(f.Tag.Get("json"), ",")

	_, isOptional := markers["optional"]
	_, isNeeded := markers["required"]
	want := isNeeded || !isOptional && !strings.Contains(options, "omit")
	if got := isRequired(typ, name, options); got != want {
		t.Errorf("%s.%s: required is %t, want %t", typ.Name(), name, got, want)
	}
	if wantMap := markers["mapType"] == "atomic" || markers["structType"] == "atomic"; (s.Extensions[mapType] == "atomic") != wantMap {
		t.Errorf("%s.%s: %s is %v, want atomic: %t", typ.Name(), name, mapType, s.Extensions[mapType], wantMap)
	}
	if f.Type.Kind() != reflect.Slice || f.Type.Elem().Kind() == reflect.Uint8 {
		return
	}
	wantType := markers["listType"]
	if wantType == "" {
		wantType = "atomic" // what an apply takes it for
	}
	if s.Extensions[listType] != wantType {
		t.Errorf("%s.%s: %s is %v, want %s", typ.Name(), name, listType, s.Extensions[listType], wantType)
	}
	keys, _ := s.Extensions[listMapKeys].([]any)
	if got := joined(keys); got != markers["listMapKey"] {
		t.Errorf("%s.%s: keys are %q, want %q", typ.Name(), name, got, markers["listMapKey"])
	}
	for _, key := range keys {
		compareDefault(t, src, f.Type.Elem(), key.(string))
	}
}

// compareDefault: an apply needs the default of what identifies an item.
func compareDefault(t *testing.T, src sources, item reflect.Type, key string) {
	for i := range item.NumField() {
		f := item.Field(i)
		text := src.typeOf(t, item).fields[f.Name]["default"]
		if jsonName(f) != key || text == "" {
			continue
		}
		var s spec.Schema
		addMarkers(&s, item, f)
		if got := fmt.Sprintf("%q", s.Default); got != text {
			t.Errorf("%s.%s: default is %s, want %s", item.Name(), key, got, text)
		}
	}
}

func joined(keys []any) string {
	var out []string
	for _, k := range keys {
		out = append(out, k.(string))
	}
	return strings.Join(out, ",")
}

// reachable returns the structs that the schemas of the kinds describe field by
// field.
func reachable() map[reflect.Type]bool {
	seen := map[reflect.Type]bool{}
	var visit func(reflect.Type)
	visit = func(t reflect.Type) {
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			visit(t.Elem())
		case reflect.Struct:
			if _, own := v2.ownSchema(t); own || seen[t] || !strings.HasPrefix(t.PkgPath(), "k8s.io/") {
				return
			}
			seen[t] = true
			for i := range t.NumField() {
				if jsonName(t.Field(i)) != "-" {
					visit(t.Field(i).Type)
				}
			}
		}
	}
	for _, k := range api.Kinds {
		visit(reflect.TypeOf(k.New()))
	}
	return seen
}

// sources has the parsed packages by their paths.
type sources map[string]map[string]typeSource

// typeSource has the markers of a type and of its fields. A marker that is there
// more than once has its values joined by commas.
type typeSource struct {
	markers map[string]string
	fields  map[string]map[string]string
}

func (s sources) typeOf(t *testing.T, typ reflect.Type) typeSource {
	if _, ok := s[typ.PkgPath()]; !ok {
		s[typ.PkgPath()] = parsePackage(t, typ.PkgPath())
	}
	decl, ok := s[typ.PkgPath()][typ.Name()]
	if !ok {
		t.Fatalf("no source of %s", typ)
	}
	return decl
}

func parsePackage(t *testing.T, path string) map[string]typeSource {
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", path).Output()
	if err != nil {
		t.Fatalf("go list %s: %v", path, err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]typeSource{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			addTypes(out, d)
		}
	}
	return out
}

func addTypes(out map[string]typeSource, d ast.Decl) {
	gen, ok := d.(*ast.GenDecl)
	if !ok {
		return
	}
	for _, s := range gen.Specs {
		ts, ok := s.(*ast.TypeSpec)
		if !ok {
			continue
		}
		decl := typeSource{markers: markersOf(gen.Doc), fields: map[string]map[string]string{}}
		if st, ok := ts.Type.(*ast.StructType); ok {
			for _, f := range st.Fields.List {
				for _, name := range f.Names {
					decl.fields[name.Name] = markersOf(f.Doc)
				}
			}
		}
		out[ts.Name.Name] = decl
	}
}

func markersOf(doc *ast.CommentGroup) map[string]string {
	out := map[string]string{}
	if doc == nil {
		return out
	}
	for _, c := range doc.List {
		text, ok := strings.CutPrefix(strings.TrimSpace(strings.TrimPrefix(c.Text, "//")), "+")
		if !ok {
			continue
		}
		name, value, _ := strings.Cut(text, "=")
		if known := []string{"optional", "required", "listType", "listMapKey", "mapType", "structType", "default"}; slices.Contains(known, name) {
			if out[name] != "" {
				value = out[name] + "," + value
			}
			out[name] = value
		}
	}
	return out
}
