// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berth-run/berth/api"
)

// intentOf returns an object without what the server and the nodes say of it: what is
// left changes only if somebody wants that. Nil stays nil.
func intentOf(k *api.Kind, obj api.Object) (map[string]any, error) {
	if obj == nil {
		return nil, nil
	}
	content, err := contentOf(k, obj)
	if err != nil {
		return nil, err
	}
	removeReported(content)
	return content, nil
}

// intent is that of a manifest, in the namespace where its object would be.
func (m manifest) intent() map[string]any {
	content := m.content.AsMap()
	removeReported(content)
	if metadata, ok := content["metadata"].(map[string]any); ok {
		metadata["namespace"] = m.namespace
	}
	return content
}

// removeReported removes what the server and the nodes say of an object.
func removeReported(content map[string]any) {
	delete(content, "status")
	removeMetadata(content, "managedFields", "resourceVersion", "generation", "uid", "creationTimestamp")
	unstructured.RemoveNestedField(content, "metadata", "annotations", corev1.LastAppliedConfigAnnotation)
}

// contentOf returns an object as its manifest shows it.
func contentOf(k *api.Kind, obj api.Object) (map[string]any, error) {
	return runtime.DefaultUnstructuredConverter.ToUnstructured(api.Typed(k, obj))
}

func removeMetadata(content map[string]any, fields ...string) {
	for _, field := range fields {
		unstructured.RemoveNestedField(content, "metadata", field)
	}
}

// changeOf says in a word what has become of an object, which was not there if before is
// nil.
func changeOf(k *api.Kind, before, after api.Object) (string, error) {
	if before == nil || before.GetUID() != after.GetUID() {
		return "created", nil
	}
	old, err := intentOf(k, before)
	if err != nil {
		return "", err
	}
	now, err := intentOf(k, after)
	if err != nil {
		return "", err
	}
	if reflect.DeepEqual(old, now) {
		return "unchanged", nil
	}
	return "configured", nil
}

const hidden = "***"

// mask replaces the values of two states of a Secret, by marks that differ where they do.
func mask(before, after map[string]any) {
	for _, field := range []string{"data", "stringData"} {
		old, _, _ := unstructured.NestedMap(before, field)
		now, _, _ := unstructured.NestedMap(after, field)
		for key := range old {
			if other, ok := now[key]; ok && other != old[key] {
				set(before, field, key, hidden+" (before)")
				set(after, field, key, hidden+" (after)")
				continue
			}
			set(before, field, key, hidden)
		}
		for key := range now {
			if other, ok := old[key]; !ok || other == now[key] {
				set(after, field, key, hidden)
			}
		}
	}
}

// set replaces a value that is there.
func set(content map[string]any, field, key, value string) {
	content[field].(map[string]any)[key] = value
}
