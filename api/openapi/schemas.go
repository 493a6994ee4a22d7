// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package openapi

import (
	"reflect"

	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/berth-run/berth/api"
)

// Schemas returns the schemas of all kinds and of what they reach, by model name,
// as they tell how an apply merges.
func Schemas() map[string]*spec.Schema {
	m := newModels(v3)
	for _, k := range api.Kinds {
		m.addKind(reflect.TypeOf(k.New()).Elem(), k.GroupVersionKind())
	}
	out := make(map[string]*spec.Schema, len(m.schemas))
	for name, s := range m.schemas {
		out[name] = &s
	}
	return out
}
