// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	"github.com/munnerz/goautoneg"
	"google.golang.org/protobuf/proto"

	"github.com/berth-run/berth/api/openapi"
	"github.com/berth-run/berth/internal/version"
)

const (
	openAPIv2 = "/openapi/v2"
	openAPIv3 = "/openapi/v3"

	openAPIv2Protobuf = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
)

// openAPITypes are the names by which clients ask for the forms of version 2; the
// one with the @ is no valid media type, and the one that kubectl uses.
var openAPITypes = []string{
	string(mediaJSON), openAPIv2Protobuf, "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
}

// addOpenAPI adds the handlers of all OpenAPI documents.
func addOpenAPI(plain map[string]http.HandlerFunc) {
	plain[openAPIv2] = serveOpenAPIv2()
	documents := map[string]document{}
	for _, path := range openapi.Paths() {
		d := jsonDocument(func() any { return openapi.V3(path, version.Kubernetes) })
		documents[path] = d
		plain[openAPIv3+path] = serveHashed(openAPIv3+path, d)
	}
	plain[openAPIv3] = jsonDocument(func() any { return openAPIIndex(documents) }).serveJSON
}

// openAPIIndex tells clients where the documents are and, by the hash, which of
// them they have already.
func openAPIIndex(documents map[string]document) any {
	type entry struct {
		ServerRelativeURL string `json:"serverRelativeURL"`
	}
	paths := map[string]entry{}
	for path, d := range documents {
		paths[strings.TrimPrefix(path, "/")] = entry{hashedURL(openAPIv3+path, d)}
	}
	return map[string]any{"paths": paths}
}

func hashedURL(path string, d document) string {
	u := url.URL{Path: path, RawQuery: url.Values{"hash": {d().hash}}.Encode()}
	return u.String()
}

// serveHashed serves a document that a client may keep for ever under the hash
// that the index names. One who asks with another hash is sent to this one.
func serveHashed(path string, d document) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if _, ok := negotiate(r, string(mediaJSON)); !ok {
			writeError(w, r, notAcceptable())
			return
		}
		switch hash := r.URL.Query().Get("hash"); hash {
		case "":
		case d().hash:
			w.Header().Set("Cache-Control", "public, immutable, max-age=31536000")
		default:
			http.Redirect(w, r, hashedURL(path, d), http.StatusMovedPermanently)
			return
		}
		d.serveJSON(w, r)
	}
}

// serveOpenAPIv2 serves JSON and the protobuf that is made from it.
func serveOpenAPIv2() http.HandlerFunc {
	text := jsonDocument(func() any { return openapi.V2(version.Kubernetes) })
	binary := newDocument(func() ([]byte, error) {
		body, err := json.Marshal(openapi.V2(version.Kubernetes))
		if err != nil {
			return nil, err
		}
		parsed, err := openapi_v2.ParseDocument(body)
		if err != nil {
			return nil, err
		}
		return proto.MarshalOptions{Deterministic: true}.Marshal(parsed)
	})
	return func(w http.ResponseWriter, r *http.Request) {
		switch t, ok := negotiate(r, openAPITypes...); {
		case !ok:
			writeError(w, r, notAcceptable())
		case t == string(mediaJSON):
			text.serveJSON(w, r)
		default:
			binary.serve(w, r, openAPIv2Protobuf)
		}
	}
}

// negotiate returns the first type that the client accepts, the first of offers
// if it does not say.
func negotiate(r *http.Request, offers ...string) (string, bool) {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	if strings.TrimSpace(accept) == "" {
		return offers[0], true
	}
	for _, c := range goautoneg.ParseAccept(accept) {
		for _, offer := range offers {
			kind, sub, _ := strings.Cut(offer, "/")
			if (c.Type == kind || c.Type == "*") && (c.SubType == sub || c.SubType == "*") {
				return offer, true
			}
		}
	}
	return "", false
}
