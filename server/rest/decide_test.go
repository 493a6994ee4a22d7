// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/berth-run/berth/api"
)

func TestAnswerType(t *testing.T) {
	const table = "application/json;as=Table;v=v1;g=meta.k8s.io"
	tests := []struct {
		accept string
		watch  bool
		want   mediaType
		shape  shape
		ok     bool
	}{
		{"", false, mediaJSON, whole, true},
		{"*/*", false, mediaJSON, whole, true},
		{"application/json", false, mediaJSON, whole, true},
		{"application/json; charset=utf-8", false, mediaJSON, whole, true},
		{"application/yaml", false, mediaYAML, whole, true},
		{"application/yaml", true, "", whole, false},
		{"application/yaml, application/json;q=0.5", true, mediaJSON, whole, true},
		{"application/vnd.kubernetes.protobuf, application/json", false, mediaProtobuf, whole, true},
		{"application/vnd.kubernetes.protobuf;stream=watch", true, mediaProtobuf, whole, true},
		{"application/json;q=0.4, application/yaml;q=0.9", false, mediaYAML, whole, true},
		{table + ", application/json", false, mediaJSON, asTable, true},
		{table, true, mediaJSON, asTable, true},
		{"application/json;as=Table;v=v1beta1;g=meta.k8s.io, application/json", false, mediaJSON, whole, true},
		{"application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io, " + table, false, mediaJSON, asTable, true},
		{"application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", false, mediaProtobuf, asPartial, true},
		{"application/json;as=Scale;v=v1;g=autoscaling", false, "", whole, false},
		{"application/json;q=0", false, "", whole, false},
		{"image/png", false, "", whole, false},
		{"text/html, */*;q=0.1", false, mediaJSON, whole, true},
	}
	for _, tt := range tests {
		if got, shape, ok := answerType(tt.accept, tt.watch); got != tt.want || shape != tt.shape || ok != tt.ok {
			t.Errorf("answerType(%q, %t) = %q, %q, %t, want %q, %q, %t", tt.accept, tt.watch, got, shape, ok, tt.want, tt.shape, tt.ok)
		}
	}
}

func TestParsePath(t *testing.T) {
	tests := []struct {
		path string
		want target
		ok   bool
	}{
		{"/api/v1/pods", target{kind: api.Pods}, true},
		{"/api/v1/namespaces", target{kind: api.Namespaces}, true},
		{"/api/v1/namespaces/a", target{kind: api.Namespaces, name: "a"}, true},
		{"/api/v1/namespaces/a/status", target{kind: api.Namespaces, name: "a", subresource: "status"}, true},
		{"/api/v1/namespaces/a/pods", target{kind: api.Pods, namespace: "a"}, true},
		{"/api/v1/namespaces/a/pods/b", target{kind: api.Pods, namespace: "a", name: "b"}, true},
		{"/api/v1/namespaces/a/pods/b/log", target{kind: api.Pods, namespace: "a", name: "b", subresource: "log"}, true},
		{"/api/v1/namespaces/a/pods/b/log/c", target{}, false},
		{"/api/v1/nodes/n/status", target{kind: api.Nodes, name: "n", subresource: "status"}, true},
		{"/api/v1/gadgets", target{}, false},
		{"/api/v1/", target{}, false},
		{"/healthz", target{}, false},
	}
	for _, tt := range tests {
		if got, ok := parsePath(tt.path); got != tt.want || ok != tt.ok {
			t.Errorf("parsePath(%q) = %+v, %t, want %+v, %t", tt.path, got, ok, tt.want, tt.ok)
		}
	}
}

func TestWatchPath(t *testing.T) {
	for in, want := range map[string]string{
		"/api/v1/pods?watch=true":                    "/api/v1/watch/pods",
		"/api/v1/namespaces/a/pods?watch=1":          "/api/v1/watch/namespaces/a/pods",
		"/api/v1/namespaces?watch=true":              "/api/v1/watch/namespaces",
		"/api/v1/pods?watch=false":                   "/api/v1/pods",
		"/api/v1/pods":                               "/api/v1/pods",
		"/api/v1/namespaces/a/pods/b?watch=true":     "/api/v1/namespaces/a/pods/b",
		"/api/v1/namespaces/a/pods/b/log?watch=true": "/api/v1/namespaces/a/pods/b/log",
	} {
		u, err := url.Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := watchPath(u.Path, u.Query()); got != want {
			t.Errorf("watchPath(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestRefuseOrigin(t *testing.T) {
	tests := []struct {
		host   string
		header http.Header
		pass   bool
	}{
		{"localhost:8080", nil, true},
		{"127.0.0.1:8080", nil, true},
		{"127.1.2.3", nil, true},
		{"[::1]:8080", nil, true},
		{"LOCALHOST.:8080", nil, true},
		{"berth.localhost:8080", nil, true},
		{"evil.example", nil, false},
		{"127.0.0.1.evil.example:8080", nil, false},
		{"localhost.evil.example:8080", nil, false},
		{"10.0.0.1:8080", nil, false},
		{"", nil, false},
		{"localhost:8080", http.Header{"Origin": {"http://localhost:8080"}}, true},
		{"localhost:8080", http.Header{"Origin": {"http://localhost:3000"}}, false},
		{"localhost:8080", http.Header{"Origin": {"null"}}, false},
		{"localhost:8080", http.Header{"Origin": {"http://evil.example"}}, false},
		{"localhost:8080", http.Header{"Sec-Fetch-Site": {"same-origin"}}, true},
		{"localhost:8080", http.Header{"Sec-Fetch-Site": {"none"}}, true},
		{"localhost:8080", http.Header{"Sec-Fetch-Site": {"same-site"}}, false},
		{"localhost:8080", http.Header{"Sec-Fetch-Site": {"cross-site"}}, false},
	}
	for _, tt := range tests {
		if got := refuseOrigin(tt.host, tt.header); (got == "") != tt.pass {
			t.Errorf("Host %q, %v: %q, want passed=%t", tt.host, tt.header, got, tt.pass)
		}
	}
}
