// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"net/url"
	"strings"

	"github.com/berth-run/berth/api"
)

const apiPrefix = "/api/v1/"

// target is what a path under /api/v1 means.
type target struct {
	kind        *api.Kind
	namespace   string
	name        string
	subresource string
}

// parsePath reads a Kubernetes path of the table's kinds:
// [namespaces/{namespace}/]resource[/{name}[/{subresource}]].
func parsePath(path string) (target, bool) {
	rest, ok := strings.CutPrefix(path, apiPrefix)
	if !ok {
		return target{}, false
	}
	var t target
	parts := strings.Split(rest, "/")
	// Three parts or more after "namespaces": the third is a resource in that
	// namespace, unless it is a subresource of the namespace itself.
	if len(parts) > 2 && parts[0] == api.Namespaces.Resource {
		if k := kindOf(parts[2]); k != nil && k.Namespaced {
			t.namespace, parts = parts[1], parts[2:]
		}
	}
	if t.kind = kindOf(parts[0]); t.kind == nil || len(parts) > 3 {
		return target{}, false
	}
	if len(parts) > 1 {
		t.name = parts[1]
	}
	if len(parts) > 2 {
		t.subresource = parts[2]
	}
	return t, true
}

func kindOf(resource string) *api.Kind {
	for _, k := range api.Kinds {
		if k.Resource == resource {
			return k
		}
	}
	return nil
}

// watchPath returns the path of the watch that a list request with ?watch=true
// means, or path itself.
func watchPath(path string, query url.Values) string {
	if w := query.Get("watch"); w != "true" && w != "1" {
		return path
	}
	if t, ok := parsePath(path); !ok || t.name != "" {
		return path
	}
	return apiPrefix + "watch/" + strings.TrimPrefix(path, apiPrefix)
}

func isWatch(path string) bool { return strings.HasPrefix(path, apiPrefix+"watch/") }
