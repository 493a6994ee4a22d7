// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import "encoding/base64"

// completeApplied does to an applied manifest what defaulting does to objects, as
// far as ownership sees a difference: else the one who made an object, or a second
// one who applies the same file, would be in conflict over what nobody changed.
func completeApplied(manifest map[string]any) {
	foldStringData(manifest)
	completeFieldRefs(manifest)
}

// foldStringData makes stringData, which no stored Secret has, data. What is no
// text stays where it is.
func foldStringData(manifest map[string]any) {
	texts, ok := manifest["stringData"].(map[string]any)
	if !ok {
		return
	}
	data, ok := manifest["data"].(map[string]any)
	if !ok {
		data = map[string]any{}
	}
	for key, value := range texts {
		if text, ok := value.(string); ok {
			data[key] = base64.StdEncoding.EncodeToString([]byte(text))
			delete(texts, key)
		}
	}
	manifest["data"] = data
	if len(texts) == 0 {
		delete(manifest, "stringData")
	}
}

// completeFieldRefs gives references to fields the version that they have by
// default: a reference is owned as a whole.
func completeFieldRefs(value any) {
	switch v := value.(type) {
	case map[string]any:
		for key, child := range v {
			ref, ok := child.(map[string]any)
			if _, said := ref["apiVersion"]; key == "fieldRef" && ok && !said {
				ref["apiVersion"] = "v1"
			}
			completeFieldRefs(child)
		}
	case []any:
		for _, child := range v {
			completeFieldRefs(child)
		}
	}
}
