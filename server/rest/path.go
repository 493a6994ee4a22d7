// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"net/url"
	"strings"

	"github.com/berth-run/berth/api"
)

// target is what a path of the API means.
type target struct {
	kind        *api.Kind
	namespace   string
	name        string
	subresource string
}

// parsePath reads a Kubernetes path of the kinds of both tables, which is below that
// of the kind's version: [namespaces/{namespace}/]resource[/{name}[/{subresource}]].
func parsePath(path string) (target, bool) {
	version, rest, ok := cutVersion(path)
	if !ok {
		return target{}, false
	}
	var t target
	parts := strings.Split(rest, "/")
	// Three parts or more after "namespaces": the third is a resource in that
	// namespace, unless it is a subresource of the namespace itself.
	if len(parts) > 2 && parts[0] == api.Namespaces.Resource {
		if k := kindOf(version, parts[2]); k != nil && k.Namespaced {
			t.namespace, parts = parts[1], parts[2:]
		}
	}
	if t.kind = kindOf(version, parts[0]); t.kind == nil || len(parts) > 3 {
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

// cutVersion splits a path after that of a version: /api/v1/ or
// /apis/GROUP/VERSION/.
func cutVersion(path string) (version, rest string, ok bool) {
	depth := 2
	if strings.HasPrefix(path, "/apis/") {
		depth = 3
	} else if !strings.HasPrefix(path, "/api/") {
		return "", "", false
	}
	end := 0
	for range depth {
		next := strings.IndexByte(path[end+1:], '/')
		if next < 0 {
			return "", "", false
		}
		end += 1 + next
	}
	return path[:end], path[end+1:], true
}

func kindOf(version, resource string) *api.Kind {
	for _, k := range api.Kinds {
		if k.Resource == resource && k.Path() == version {
			return k
		}
	}
	for _, k := range api.AbsentKinds {
		if k.Resource == resource && k.Path() == version {
			return &k.Kind
		}
	}
	return nil
}

const watchPrefix = "watch/"

// watchPath returns the path of the watch that a list request with ?watch=true
// means, or path itself.
func watchPath(path string, query url.Values) string {
	if w := query.Get("watch"); w != "true" && w != "1" {
		return path
	}
	if t, ok := parsePath(path); !ok || t.name != "" {
		return path
	}
	version, rest, _ := cutVersion(path)
	return version + "/" + watchPrefix + rest
}

// unwatchedPath returns the path of what a path watches, or path itself.
func unwatchedPath(path string) (_ string, isWatch bool) {
	version, rest, _ := cutVersion(path)
	if watched, ok := strings.CutPrefix(rest, watchPrefix); ok {
		return version + "/" + watched, true
	}
	return path, false
}

func isVersioned(path string) bool {
	_, _, ok := cutVersion(path)
	return ok
}
