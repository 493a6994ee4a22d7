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
	paths, err := filepath.Glob("../examples/*")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, path := range paths {
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
