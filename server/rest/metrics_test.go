// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"net/http/httptest"
	"testing"
)

func TestVerbOf(t *testing.T) {
	for _, test := range []struct{ method, url, verb, resource string }{
		{"GET", "/api/v1/pods", "LIST", "pods"},
		{"GET", "/api/v1/namespaces/default/pods", "LIST", "pods"},
		{"GET", "/api/v1/namespaces/default/pods?watch=true", "WATCH", "pods"},
		{"GET", "/api/v1/watch/namespaces/default/pods/p", "WATCH", "pods"},
		{"GET", "/api/v1/namespaces/default/pods/p", "GET", "pods"},
		{"GET", "/api/v1/namespaces/default/pods/p/log", "GET", "pods/log"},
		{"POST", "/api/v1/namespaces/default/pods/p/binding", "POST", "pods/binding"},
		{"PUT", "/api/v1/nodes/n/status", "PUT", "nodes/status"},
		{"GET", "/api/v1/nodes/n/invented", "GET", "nodes"},
		{"GET", "/api/v1/invented/n", "GET", ""},
		{"GET", "/apis/apps/v1/deployments?watch=true", "WATCH", "deployments"},
		{"GET", "/metrics", "GET", ""},
		{"INVENTED", "/api/v1/pods", "other", "pods"},
	} {
		verb, resource := verbOf(httptest.NewRequest(test.method, test.url, nil))
		if verb != test.verb || resource != test.resource {
			t.Errorf("%s %s: %s of %q, want %s of %q", test.method, test.url, verb, resource, test.verb, test.resource)
		}
	}
}
