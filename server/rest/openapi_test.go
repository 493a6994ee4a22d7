// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	"google.golang.org/protobuf/proto"
	"k8s.io/kube-openapi/pkg/spec3"

	"github.com/berth-run/berth/api"
)

type openAPIPaths struct {
	Paths map[string]struct {
		ServerRelativeURL string `json:"serverRelativeURL"`
	}
}

// TestOpenAPI asks one server, since its documents take time to make.
func TestOpenAPI(t *testing.T) {
	s := newServer(t)
	t.Run("index", func(t *testing.T) { followIndex(t, s) })
	t.Run("caching", func(t *testing.T) { requireCaching(t, s) })
	t.Run("negotiation", func(t *testing.T) { requireNegotiation(t, s) })
	t.Run("another start", func(t *testing.T) { requireSameHash(t, s, newServer(t)) })
}

// followIndex leads to every document, as it does clients.
func followIndex(t *testing.T, s *server) {
	var index openAPIPaths
	s.do(t, "GET", "/openapi/v3", "", 200, &index)
	for _, k := range api.Kinds {
		if _, ok := index.Paths[strings.TrimPrefix(k.Path(), "/")]; !ok {
			t.Errorf("no document for %s", k.Path())
		}
	}
	for name, entry := range index.Paths {
		var doc spec3.OpenAPI
		resp := s.do(t, "GET", entry.ServerRelativeURL, "", 200, &doc)
		if len(doc.Components.Schemas) == 0 || len(doc.Paths.Paths) == 0 || !strings.Contains(entry.ServerRelativeURL, "/"+name+"?hash=") {
			t.Errorf("%s: %d schemas, %d paths", entry.ServerRelativeURL, len(doc.Components.Schemas), len(doc.Paths.Paths))
		}
		if got := resp.Header.Get("Cache-Control"); !strings.Contains(got, "immutable") {
			t.Errorf("%s: Cache-Control %q", name, got)
		}
	}
}

// requireSameHash: what clients have cached is good after a restart too.
func requireSameHash(t *testing.T, one, other *server) {
	const path = "/openapi/v3/api/v1"
	first, _ := one.call(t, "GET", path, "")
	second, _ := other.call(t, "GET", path, "")
	if a, b := first.Header.Get("ETag"), second.Header.Get("ETag"); a != b {
		t.Errorf("%s, then %s", a, b)
	}
}

// requireCaching: who has a document gets it once, also under an old hash.
func requireCaching(t *testing.T, s *server) {
	for _, path := range []string{"/openapi/v3", "/openapi/v3/api/v1", "/openapi/v2"} {
		resp, _ := s.call(t, "GET", path, "")
		etag := resp.Header.Get("ETag")
		if resp.StatusCode != 200 || etag == "" || resp.Header.Get("Cache-Control") != "" {
			t.Errorf("%s: %d %v", path, resp.StatusCode, resp.Header)
		}
		if resp, body := s.call(t, "GET", path, "", "If-None-Match", etag); resp.StatusCode != http.StatusNotModified || len(body) > 0 {
			t.Errorf("%s with its ETag: %d", path, resp.StatusCode)
		}
		if resp, _ := s.call(t, "GET", path, "", "If-None-Match", `"other"`); resp.StatusCode != 200 {
			t.Errorf("%s with another ETag: %d", path, resp.StatusCode)
		}
	}
	resp, _ := s.call(t, "GET", "/openapi/v3/api/v1?hash=old", "")
	if resp.StatusCode != 200 || !strings.Contains(resp.Request.URL.RawQuery, "hash=") || resp.Request.URL.RawQuery == "hash=old" {
		t.Errorf("an old hash leads to %s: %d", resp.Request.URL, resp.StatusCode)
	}
}

func requireNegotiation(t *testing.T, s *server) {
	const old, named = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf", "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
	for _, test := range []struct {
		path, accept string
		code         int
		contentType  string
	}{
		{"/openapi/v2", old, 200, named},
		{"/openapi/v2", named, 200, named},
		{"/openapi/v2", "application/json", 200, "application/json"},
		{"/openapi/v2", "*/*", 200, "application/json"},
		{"/openapi/v2", old + ";q=0.5, application/json", 200, "application/json"},
		{"/openapi/v2", "image/png", 406, "application/json"},
		{"/openapi/v3/api/v1", "application/com.github.proto-openapi.spec.v3@v1.0+protobuf", 406, "application/json"},
		{"/openapi/v3/api/v1", "application/com.github.proto-openapi.spec.v3@v1.0+protobuf, */*", 200, "application/json"},
		{"/openapi/v3/apis/example.com/v1", "*/*", 404, "application/json"},
	} {
		resp, body := s.call(t, "GET", test.path, "", "Accept", test.accept)
		if resp.StatusCode != test.code || resp.Header.Get("Content-Type") != test.contentType {
			t.Errorf("%s as %s: %d %s", test.path, test.accept, resp.StatusCode, resp.Header.Get("Content-Type"))
		}
		if test.contentType == named {
			var doc openapi_v2.Document
			if err := proto.Unmarshal(body, &doc); err != nil || len(doc.Definitions.AdditionalProperties) == 0 {
				t.Errorf("%s: %v", test.accept, err)
			}
		}
	}
	var doc map[string]any
	_, body := s.call(t, "GET", "/openapi/v2", "")
	if err := json.Unmarshal(body, &doc); err != nil || doc["swagger"] != "2.0" {
		t.Errorf("%v, %v", doc["swagger"], err)
	}
}
