// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package openapi

import (
	"reflect"
	"slices"
	"strings"

	"k8s.io/kube-openapi/pkg/validation/spec"
)

// Extensions that say how a patch or an apply merges a list or a map.
const (
	patchStrategy = "x-kubernetes-patch-strategy"
	patchMergeKey = "x-kubernetes-patch-merge-key"
	listType      = "x-kubernetes-list-type"
	listMapKeys   = "x-kubernetes-list-map-keys"
	mapType       = "x-kubernetes-map-type"
)

// addMarkers says how the field f of owner merges.
func addMarkers(s *spec.Schema, owner reflect.Type, f reflect.StructField) {
	if strategy := f.Tag.Get("patchStrategy"); strategy != "" {
		s.AddExtension(patchStrategy, strategy)
	}
	if key := f.Tag.Get("patchMergeKey"); key != "" {
		s.AddExtension(patchMergeKey, key)
	}
	field := owner.Name() + "." + jsonName(f)
	switch kind, keys := listTypeOf(field, f); kind {
	case "":
	case "map":
		s.AddExtension(listMapKeys, keys)
		fallthrough
	default:
		s.AddExtension(listType, kind)
	}
	if atomicMaps[field] {
		s.AddExtension(mapType, "atomic")
	}
	if value, ok := defaults[field]; ok {
		s.Default = value
	}
}

// listTypeOf says what identifies the items of a list: its tags, where the
// tables do not know better. A list of neither is replaced whole.
func listTypeOf(field string, f reflect.StructField) (kind string, keys []any) {
	if f.Type.Kind() != reflect.Slice || f.Type.Elem().Kind() == reflect.Uint8 {
		return "", nil // not a list in JSON
	}
	if keys, ok := mapLists[field]; ok {
		return "map", keys
	}
	merges := slices.Contains(strings.Split(f.Tag.Get("patchStrategy"), ","), "merge")
	key := f.Tag.Get("patchMergeKey")
	switch {
	case setLists[field] || merges && key == "":
		return "set", nil
	case atomicLists[field] || key == "":
		return "atomic", nil
	}
	return "map", []any{key}
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// isRequired tells whether an object without the field is not valid: the tag says
// that it is never left out.
func isRequired(owner reflect.Type, name, options string) bool {
	field := owner.Name() + "." + name
	switch {
	case optional[field]:
		return false
	case required[field]:
		return true
	}
	return !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero")
}
