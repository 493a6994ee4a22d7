// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// TestAbsentKindsAreKubernetes compares the table with the types of Kubernetes,
// and with the kinds that berth does have.
func TestAbsentKindsAreKubernetes(t *testing.T) {
	seen := map[schema.GroupResource]bool{}
	names := map[string]string{}
	for _, k := range Kinds {
		seen[k.GroupResource()] = true
		for _, s := range k.ShortNames {
			names[s] = k.Resource
		}
	}
	for _, k := range AbsentKinds {
		gvk := k.GroupVersionKind()
		if !scheme.Scheme.Recognizes(gvk) && k.Group != "apiextensions.k8s.io" {
			t.Errorf("Kubernetes has no %s", gvk)
		}
		plural, singular := meta.UnsafeGuessKindToResource(gvk)
		if singular.Resource != strings.ToLower(k.Name) || plural.Resource != k.Resource && k.Resource != "endpoints" {
			t.Errorf("%s: resource %s, want %s", gvk, k.Resource, plural.Resource)
		}
		if seen[k.GroupResource()] {
			t.Errorf("%s is there twice", k.GroupResource())
		}
		seen[k.GroupResource()] = true
		for _, s := range k.ShortNames {
			if other, ok := names[s]; ok {
				t.Errorf("%s and %s have the short name %s", other, k.Resource, s)
			}
			names[s] = k.Resource
		}
	}
}

// TestInstead: the advice is one or two sentences, without a full stop at the end
// as the errors of Kubernetes.
func TestInstead(t *testing.T) {
	for _, k := range AbsentKinds {
		got := k.Instead()
		start := "berth runs pods by themselves: it has no " + k.Resource + ". "
		advice, ok := strings.CutPrefix(got, start)
		if !ok || advice == "" || strings.HasSuffix(advice, ".") || strings.ToUpper(advice[:1]) != advice[:1] {
			t.Errorf("%s: %q", k.Name, got)
		}
	}
}
