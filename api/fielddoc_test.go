// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

var update = flag.Bool("update", false, "write docs/pod-fields.md")

const fieldDoc = "../docs/pod-fields.md"

// fieldTests names, for each honoured field, the end-to-end tests that show it.
const fieldTests = "testdata/fieldtests.txt"

// TestPodFieldsDoc makes docs/pod-fields.md from the table of PodSpec fields: the
// document is true if the table is, and each honoured field has a test that exists.
func TestPodFieldsDoc(t *testing.T) {
	tests := readFieldTests(t)
	want := fieldDocument(documentedFields(), tests)
	for path := range tests.unused {
		t.Errorf("%s names %s, which is no honoured field", fieldTests, path)
	}
	for _, path := range tests.missing {
		t.Errorf("%s is honoured, and %s names no test of it", path, fieldTests)
	}
	if *update {
		if err := os.WriteFile(fieldDoc, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(fieldDoc)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(got), want); diff != "" {
		t.Errorf("%s is out of date; run go test ./api -run PodFieldsDoc -update (-is +should be):\n%s", fieldDoc, diff)
	}
}

// documentedField is one line of the document.
type documentedField struct {
	path string
	rule *fieldRule // nil: no row names it
}

func documentedFields() []documentedField {
	return fieldsBelow(reflect.TypeFor[corev1.PodSpec](), podSpecTree(), "")
}

// fieldsBelow walks a type down to where the table decides, as walkFields does with
// values.
func fieldsBelow(typ reflect.Type, t *fieldTree, path string) (all []documentedField) {
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	switch {
	case t == nil || t.rule != nil || t.children == nil:
		var rule *fieldRule
		if t != nil {
			rule = t.rule
		}
		return []documentedField{{path, rule}}
	case typ.Kind() == reflect.Slice:
		return fieldsBelow(typ.Elem(), t.child("[]"), path+"[]")
	}
	for i := range typ.NumField() {
		f := typ.Field(i)
		if name := jsonName(f); name != "" {
			all = append(all, fieldsBelow(f.Type, t.child(name), strings.TrimPrefix(path+"."+name, "."))...)
		} else {
			all = append(all, fieldsBelow(f.Type, t, path)...)
		}
	}
	return all
}

// testsOfFields are the tests by field path; a path speaks for all below it.
type testsOfFields struct {
	byPath  map[string][]string
	unused  map[string]bool
	missing []string
}

func readFieldTests(t *testing.T) *testsOfFields {
	t.Helper()
	known := endToEndTests(t)
	content, err := os.ReadFile(fieldTests)
	if err != nil {
		t.Fatal(err)
	}
	tests := &testsOfFields{byPath: map[string][]string{}, unused: map[string]bool{}}
	for line := range strings.Lines(string(content)) {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		for _, name := range fields[1:] {
			if !known[name] {
				t.Errorf("%s: %s: there is no test %s", fieldTests, fields[0], name)
			}
		}
		tests.byPath[fields[0]], tests.unused[fields[0]] = fields[1:], true
	}
	return tests
}

var testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

func endToEndTests(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("../test/e2e/*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no end-to-end tests found", err)
	}
	known := map[string]bool{}
	for _, f := range files {
		content, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range testFunction.FindAllStringSubmatch(string(content), -1) {
			known[match[1]] = true
		}
	}
	return known
}

// of returns the tests of the longest path that the field lies below.
func (t *testsOfFields) of(path string) []string {
	for p := path; p != ""; {
		if names, ok := t.byPath[p]; ok {
			delete(t.unused, p)
			return names
		}
		p = p[:max(0, strings.LastIndexAny(p, ".["))]
	}
	t.missing = append(t.missing, path)
	return nil
}

// The sections of the document: a container's fields are listed once, and for
// other lists of containers only where they differ.
const (
	containerList = "containers[]."
	initList      = "initContainers[]."
	ephemeralList = "ephemeralContainers[]."
	volumeList    = "volumes[]."
)

func fieldDocument(fields []documentedField, tests *testsOfFields) string {
	var b strings.Builder
	b.WriteString(`# Pod fields

Every field of a PodSpec: honoured, with the end-to-end test that shows it, or refused when a pod is created, with the
message that follows the field's path. Nothing is ignored. A field stands for all that lies below it.

This page is written by a test from the table that the server decides by.
`)
	common := map[string]string{}
	for _, section := range []struct{ title, prefix, note string }{
		{"Pod", "", ""},
		{"Containers", containerList, ""},
		{"Init containers", initList, "As containers, but for:"},
		{"Ephemeral containers", ephemeralList, "As containers, but for:"},
		{"Volumes", volumeList, ""},
	} {
		rows := sectionRows(fields, section.prefix, tests)
		if section.note != "" {
			rows = slices.DeleteFunc(rows, func(r [2]string) bool { return common[r[0]] == r[1] })
		}
		if len(rows) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n", section.title)
		if section.note != "" {
			fmt.Fprintf(&b, "%s\n\n", section.note)
		}
		b.WriteString("| field | |\n|---|---|\n")
		for _, r := range rows {
			fmt.Fprintf(&b, "| `%s` | %s |\n", r[0], r[1])
			if section.prefix == containerList {
				common[r[0]] = r[1]
			}
		}
	}
	return b.String()
}

// sectionRows are field and verdict of the fields below a prefix; of the pod's own
// without one.
func sectionRows(fields []documentedField, prefix string, tests *testsOfFields) (rows [][2]string) {
	for _, f := range fields {
		below, ok := strings.CutPrefix(f.path, prefix)
		own := !slices.ContainsFunc([]string{containerList, initList, ephemeralList, volumeList}, func(list string) bool {
			return strings.HasPrefix(f.path, list)
		})
		if ok && (prefix != "" || own) {
			rows = append(rows, [2]string{below, f.verdict(tests)})
		}
	}
	return rows
}

func (f documentedField) verdict(tests *testsOfFields) string {
	switch {
	case f.rule == nil:
		return "refused: " + notHonoured
	case f.rule.values != nil:
		return strings.TrimSuffix("only "+acceptedValues(f.rule.values)+": "+f.rule.refuse, ": ")
	case f.rule.refuse != "":
		return "refused: " + f.rule.refuse
	case f.rule.moot != "":
		return "accepted, without effect: " + f.rule.moot
	}
	// A container's fields are shown for all kinds of containers at once.
	path := f.path
	for _, list := range []string{initList, ephemeralList} {
		if below, ok := strings.CutPrefix(path, list); ok && tests.byPath[path] == nil {
			path = containerList + below
		}
	}
	names := tests.of(path)
	return "honoured: " + strings.Join(names, ", ")
}

func acceptedValues(values []any) string {
	var texts []string
	for _, v := range values {
		switch value := reflect.ValueOf(v); {
		case value.Kind() == reflect.Struct && value.IsZero():
			texts = append(texts, "empty")
		case value.Kind() == reflect.Struct:
			texts = append(texts, fmt.Sprintf("%+v", v))
		default:
			texts = append(texts, fmt.Sprintf("`%v`", v))
		}
	}
	return strings.Join(texts, ", ")
}
