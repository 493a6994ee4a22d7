// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package reach

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestClientFollowsRedirectsWithinTheHostOnly(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
		}
	}))
	defer server.Close()
	for to, want := range map[string]int{"/there": http.StatusOK, "https://elsewhere.invalid/": http.StatusFound} {
		response, err := NewClient().Get(server.URL + "?to=" + to)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("a redirect to %s: %s", to, response.Status)
		}
	}
}
