// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package openapi describes the API in the two versions of OpenAPI that clients
// of Kubernetes read. Schemas come from the Go types of the kinds by reflection:
// fields and patch tags from the struct tags, descriptions and names from the
// methods that Kubernetes generates for them. Paths come from each kind's verbs.
// What only the comments of Kubernetes' sources say stands in markers.go.
//
// Making a document takes tens of milliseconds and some megabytes of garbage;
// callers keep its bytes.
package openapi

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// groupVersionKind is the extension that ties schemas and operations to kinds.
const groupVersionKind = "x-kubernetes-group-version-kind"

// gvkExtension is its value, with the keys that clients look up.
func gvkExtension(gvk schema.GroupVersionKind) map[string]any {
	return map[string]any{"group": gvk.Group, "version": gvk.Version, "kind": gvk.Kind}
}

// Paths returns the paths of the group versions that have a document, such as
// /api/v1 and /apis/apps/v1.
func Paths() []string {
	var out []string
	for _, r := range resources() {
		if !slices.Contains(out, r.Path()) {
			out = append(out, r.Path())
		}
	}
	return out
}

func info(version string) *spec.Info {
	return &spec.Info{InfoProps: spec.InfoProps{Title: "berth", Version: version}}
}
