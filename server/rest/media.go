// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"mime"
	"sort"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// mediaType is one of the forms that bodies and answers have.
type mediaType string

const (
	mediaJSON     = mediaType(runtime.ContentTypeJSON)
	mediaYAML     = mediaType(runtime.ContentTypeYAML)
	mediaProtobuf = mediaType(runtime.ContentTypeProtobuf)
)

// accepted is what error messages name.
var accepted = []string{string(mediaJSON), string(mediaYAML), string(mediaProtobuf)}

// mediaTypes has the other names by which clients know ours.
var mediaTypes = map[string]mediaType{
	string(mediaJSON):     mediaJSON,
	string(mediaYAML):     mediaYAML,
	"application/x-yaml":  mediaYAML,
	"text/yaml":           mediaYAML,
	string(mediaProtobuf): mediaProtobuf,
}

// bodyType returns the form of a body from its Content-Type; without one it is
// JSON, as in Kubernetes.
func bodyType(contentType string) (t mediaType, ok bool) {
	if contentType == "" {
		return mediaJSON, true
	}
	name, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return "", false
	}
	t, ok = mediaTypes[name]
	return t, ok
}

// answerType picks the form and the shape of the answer from an Accept header: of
// what it lists, the first of the best quality that can be served. A watch is
// never YAML. Without a header it is JSON.
func answerType(accept string, watch bool) (t mediaType, s shape, ok bool) {
	if strings.TrimSpace(accept) == "" {
		return mediaJSON, whole, true
	}
	for _, c := range parseAccept(accept) {
		t, s, ok := servable(c.name, c.params)
		if ok && !(watch && t == mediaYAML) {
			return t, s, true
		}
	}
	return "", whole, false
}

type clause struct {
	name    string
	params  map[string]string
	quality float64
}

// parseAccept returns the clauses of an Accept header that are not excluded, the
// best first.
func parseAccept(accept string) []clause {
	var out []clause
	for _, part := range strings.Split(accept, ",") {
		name, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		c := clause{name: name, params: params, quality: 1}
		if q, ok := params["q"]; ok {
			if c.quality, err = strconv.ParseFloat(q, 64); err != nil {
				continue
			}
		}
		if c.quality > 0 {
			out = append(out, c)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].quality > out[j].quality })
	return out
}

// servable tells whether one clause can be served, and how.
func servable(name string, params map[string]string) (t mediaType, s shape, ok bool) {
	switch name {
	case "*/*", "application/*":
		t, ok = mediaJSON, true
	case "text/*":
		t, ok = mediaYAML, true
	default:
		t, ok = mediaTypes[name]
	}
	if !ok {
		return "", whole, false
	}
	s, ok = shapeOf(t, params)
	return t, s, ok
}
