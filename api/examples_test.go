// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

func TestExamplesAreValid(t *testing.T) {
	for _, path := range examplePaths(t) {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, document := range bytes.Split(content, []byte("\n---\n")) {
			if err := validateExample(document); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
}

func TestExamplesAreListed(t *testing.T) {
	list, err := os.ReadFile("../examples/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range examplePaths(t) {
		if name := filepath.Base(path); !bytes.Contains(list, []byte("\n- ["+name+"]("+name+"): ")) {
			t.Errorf("examples/README.md does not list %s", name)
		}
	}
}

func examplePaths(t *testing.T) []string {
	t.Helper()
	var paths []string
	for _, pattern := range []string{"../examples/*.yaml", "../examples/*.json"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("no examples %s: %v", pattern, err)
		}
		paths = append(paths, found...)
	}
	return paths
}

// validateExample takes a manifest as a create takes it.
func validateExample(manifest []byte) error {
	data, err := yaml.YAMLToJSONStrict(manifest)
	if err != nil {
		return err
	}
	var of metav1.TypeMeta
	if err := json.Unmarshal(data, &of); err != nil {
		return err
	}
	if of.Kind == "" {
		return nil // what is sent to a part of an object
	}
	for _, k := range Kinds {
		if k.GroupVersionKind() != of.GroupVersionKind() {
			continue
		}
		obj, _, err := DecodeManifest(k, manifest, metav1.FieldValidationStrict)
		if err != nil {
			return err
		}
		if k.Namespaced && obj.GetNamespace() == "" {
			obj.SetNamespace(metav1.NamespaceDefault)
		}
		Default(obj)
		return ValidateCreate(k, obj).ToAggregate()
	}
	return fmt.Errorf("berth has no kind %s", of.GroupVersionKind())
}
