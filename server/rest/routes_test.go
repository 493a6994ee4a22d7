// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sort"
	"strings"
	"testing"

	"google.golang.org/grpc"

	"github.com/berth-run/berth/api"
)

// recorder is a connection that remembers which method was called, and answers
// with an empty message.
type recorder struct{ method string }

func (r *recorder) Invoke(_ context.Context, method string, _, _ any, _ ...grpc.CallOption) error {
	r.method = method
	return errRecorded
}

func (r *recorder) NewStream(_ context.Context, _ *grpc.StreamDesc, method string, _ ...grpc.CallOption) (grpc.ClientStream, error) {
	r.method = method
	return nil, errRecorded
}

var errRecorded = newStatus(http.StatusTeapot, "Recorded", "recorded")

// routes returns every verb that Kubernetes has for the kind on these resources,
// as "METHOD path", and the gRPC method that has to serve it.
func routes(k *api.Kind) map[string]string {
	scope := ""
	if k.Namespaced {
		scope = "namespaces/ns/"
	}
	version := k.Path() + "/"
	items := version + scope + k.Resource
	item := items + "/x"
	out := map[string]string{
		"POST " + items:                "Create",
		"GET " + items:                 "List",
		"GET " + items + "?watch=true": "Watch",
		"GET " + items + "?watch=1&fieldSelector=metadata.name%3Dx": "Watch",
		"GET " + version + "watch/" + scope + k.Resource:            "Watch",
		"GET " + version + "watch/" + scope + k.Resource + "/x":     "Watch",
		"GET " + item:     "Get",
		"PUT " + item:     "Update",
		"PATCH " + item:   "Patch",
		"DELETE " + item:  "Delete",
		"DELETE " + items: "DeleteCollection",
	}
	if k.Namespaced {
		out["GET "+version+k.Resource] = "List"
		out["GET "+version+k.Resource+"?watch=true"] = "Watch"
	}
	if k.Status {
		out["GET "+item+"/status"] = "GetStatus"
		out["PUT "+item+"/status"] = "UpdateStatus"
		out["PATCH "+item+"/status"] = "Patch"
	}
	if k == api.Pods {
		out["POST "+item+"/binding"] = "Bind"
		out["GET "+item+"/resize"] = "GetResize"
		out["PUT "+item+"/resize"] = "UpdateResize"
		out["PATCH "+item+"/resize"] = "Patch"
	}
	if k == api.ServiceAccounts {
		out["POST "+item+"/token"] = "CreateToken"
	}
	return out
}

// TestRoutesServedByGateway walks the routes of every kind and fails on a verb
// that neither a generated gateway handler nor the one of PATCH serves: behind them
// there is nothing but a recorder of the gRPC methods that they call.
func TestRoutesServedByGateway(t *testing.T) {
	conn := &recorder{}
	mux, err := newGateway(conn)
	if err != nil {
		t.Fatal(err)
	}
	h := &handler{patch: servePatch(conn), gateway: serveGateway(mux)}
	for _, k := range api.Kinds {
		for route, method := range routes(k) {
			conn.method = ""
			verb, path, _ := strings.Cut(route, " ")
			r := httptest.NewRequest(verb, path, strings.NewReader("{}"))
			if verb == http.MethodPatch {
				r.Header.Set("Content-Type", patchTypes[0])
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if want := "/berth.api.v1." + k.Service() + "/" + method; conn.method != want {
				t.Errorf("%s is served by %q, want %s (%d %s)", route, conn.method, want, w.Code, w.Body)
			}
		}
		requireVerbs(t, k)
	}
}

// requireVerbs fails when the table promises a verb that routes does not walk.
func requireVerbs(t *testing.T, k *api.Kind) {
	walked := map[string]bool{}
	for _, method := range routes(k) {
		walked[strings.ToLower(method)] = true
	}
	for _, verb := range k.Verbs {
		if !walked[verb] {
			t.Errorf("%s: no route for verb %s among %v", k.Resource, verb, sorted(walked))
		}
	}
}

func sorted(set map[string]bool) []string {
	var out []string
	for s := range set {
		out = append(out, s)
	}
	sort.Strings(out)
	return out
}
