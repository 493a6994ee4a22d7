// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/server/registry"
)

// fuzzTimeout ends what would go on: watches.
const fuzzTimeout = 50 * time.Millisecond

const seedPath = podPath + "/seed"

// fuzzServer is a server that has one pod.
func fuzzServer(f *testing.F) *server {
	s := newServer(f)
	var pod corev1.Pod
	s.do(f, "POST", podPath, podJSON("seed"), 201, &pod)
	return s
}

// serve has the handler answer a request that may be anything that HTTP allows. It
// returns nil for what no HTTP request says.
func (s *server) serve(ctx context.Context, method, target, body string, header ...string) *httptest.ResponseRecorder {
	u, err := url.ParseRequestURI(target)
	if err != nil || u.Host != "" {
		return nil
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://localhost", strings.NewReader(body))
	if err != nil {
		return nil
	}
	r.URL, r.RequestURI = u, target
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.Config.Handler.ServeHTTP(w, r)
	return w
}

// checkAnswer fails a test for answers that no request may get: those that say
// that the server is at fault, and refusals that are no Status.
func checkAnswer(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	switch w.Code {
	case http.StatusServiceUnavailable, http.StatusGatewayTimeout:
	default:
		if w.Code >= 500 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	contentType := w.Header().Get("Content-Type")
	if w.Code < 400 || w.Header().Get("Content-Encoding") != "" || !strings.HasPrefix(contentType, string(mediaJSON)) {
		return
	}
	var status metav1.Status
	if err := json.Unmarshal(w.Body.Bytes(), &status); err != nil || status.Kind != "Status" || int(status.Code) != w.Code || status.Message == "" {
		t.Errorf("%d is no Status: %v: %q", w.Code, err, w.Body)
	}
}

// FuzzHandler sends requests of any kind to the whole API over a store.
func FuzzHandler(f *testing.F) {
	const (
		configMaps = "/api/v1/namespaces/default/configmaps"
		leases     = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
		protobuf   = "application/vnd.kubernetes.protobuf"
		table      = "application/json;as=Table;v=v1;g=meta.k8s.io"
		partial    = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json;q=0.9"
	)
	for _, seed := range []struct{ method, target, accept, contentType, body string }{
		{"GET", "/api", "", "", ""},
		{"GET", "/apis", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", "", ""},
		{"GET", "/openapi/v3/api/v1", "", "", ""},
		{"GET", "/version", "application/yaml", "", ""},
		{"GET", "/readyz?verbose", "", "", ""},
		{"GET", podPath + "?limit=1&labelSelector=app%3Dweb&fieldSelector=spec.nodeName%3Dn1", "", "", ""},
		{"GET", podPath + "?resourceVersion=1&resourceVersionMatch=Exact", table, "", ""},
		{"GET", podPath + "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=1", protobuf, "", ""},
		{"GET", podPath + "?watch=1&resourceVersion=0&timeoutSeconds=1", table, "", ""},
		{"GET", "/api/v1/watch/namespaces/default/pods/seed", "", "", ""},
		{"GET", seedPath + "/log?tailLines=3&sinceTime=2026-01-02T03:04:05Z", "", "", ""},
		{"GET", seedPath + "/status?pretty=1", partial, "", ""},
		{"GET", leases, partial, "", ""},
		{"HEAD", seedPath, "", "", ""},
		{"OPTIONS", "/", "*/*;q=0", "", ""},
		{"POST", podPath + "?fieldValidation=Strict&dryRun=All", "", "application/json", podJSON("a")},
		{"POST", podPath, protobuf, protobuf, "k8s\x00\n\t\n\x02v1\x12\x03Pod\x12\x08\n\x06\n\x01b\x12\x01x"},
		{"POST", configMaps, "application/yaml", "application/yaml", "metadata: {generateName: a-}\ndata: {k: v}\n"},
		{"POST", seedPath + "/binding", "", "application/json", `{"target":{"kind":"Node","name":"n1"}}`},
		{"POST", "/api/v1/namespaces", "", "", `{"metadata":{"name":"other","finalizers":["example.com/f"]}}`},
		{"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "", "application/json", `{"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}}`},
		{"PUT", seedPath, "", "application/json", podJSON("seed")},
		{"PUT", seedPath + "/status", "", "application/json", `{"metadata":{"name":"seed"},"status":{"phase":"Running","startTime":"2026-01-02T03:04:05Z"}}`},
		{"PUT", "/api/v1/namespaces/other/finalize", "", "application/json", `{"metadata":{"name":"other"},"spec":{"finalizers":[]}}`},
		{"PATCH", seedPath, "", string(types.JSONPatchType), `[{"op":"move","from":"/metadata/labels/app","path":"/metadata/labels/b"}]`},
		{"PATCH", leases + "/l?fieldManager=fuzz&force=true", "", string(types.ApplyYAMLPatchType), "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: l}\nspec: {holderIdentity: me}\n"},
		{"DELETE", seedPath + "?gracePeriodSeconds=0&propagationPolicy=Foreground", "", "application/json", `{"preconditions":{"uid":"x"},"dryRun":["All"]}`},
		{"DELETE", configMaps + "?labelSelector=a,b%20in%20(c)", "", protobuf, ""},
	} {
		f.Add(seed.method, seed.target, seed.accept, seed.contentType, seed.body)
	}
	s := fuzzServer(f)
	f.Fuzz(func(t *testing.T, method, target, accept, contentType, body string) {
		ctx, cancel := context.WithTimeout(t.Context(), fuzzTimeout)
		defer cancel()
		if w := s.serve(ctx, method, target, body, "Accept", accept, "Content-Type", contentType); w != nil {
			checkAnswer(t, w)
		}
	})
}

// FuzzPatch patches a pod in all four ways. What comes of it is refused, or is a
// pod that the server takes: it can be written back.
func FuzzPatch(f *testing.F) {
	for kind, bodies := range [][]string{
		{ // in the order of patchTypes
			`[{"op":"replace","path":"/spec/containers/0/image","value":"nginx:2"},{"op":"test","path":"/kind","value":"Pod"}]`,
			`[{"op":"remove","path":"/spec/containers"}]`,
			`[{"op":"copy","from":"/spec","path":"/metadata/annotations"},{"op":"add","path":"/spec/tolerations/-","value":{}}]`,
		},
		{
			`{"metadata":{"labels":{"app":null,"b":"c"},"finalizers":["example.com/f"]}}`,
			`{"spec":{"containers":[{"name":"c","image":"nginx:2"}],"activeDeadlineSeconds":5}}`,
			`{"status":{"phase":"Failed"},"metadata":{"resourceVersion":"1","uid":"x"}}`,
		},
		{
			`{"spec":{"containers":[{"name":"c","image":"nginx:2"}],"tolerations":[{"key":"a","operator":"Exists"}]}}`,
			`{"metadata":{"$deleteFromPrimitiveList/finalizers":["a"],"labels":{"$patch":"replace","a":"b"}}}`,
			`{"spec":{"$setElementOrder/containers":[{"name":"c"}],"containers":[{"$patch":"delete","name":"c"}]}}`,
			`{"spec":{"$retainKeys":["containers"],"volumes":[{"$retainKeys":["emptyDir"],"name":"data"}]}}`,
		},
		{
			"apiVersion: v1\nkind: Pod\nmetadata: {name: seed, labels: {applied: yes-it-is}}\n",
			`{"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"name":"c","image":"nginx:2"}]}}`,
			"apiVersion: v1\nkind: Pod\nmetadata: {name: seed, managedFields: []}\nspec: {containers: [{name: c}, {name: c}]}\n",
		},
	} {
		for _, body := range bodies {
			f.Add(uint8(kind), body)
		}
	}
	s := fuzzServer(f)
	f.Fuzz(func(t *testing.T, kind uint8, body string) {
		contentType := patchTypes[int(kind)%len(patchTypes)]
		w := s.serve(t.Context(), "PATCH", seedPath+"?dryRun=All&fieldManager=fuzz", body, "Content-Type", contentType)
		checkAnswer(t, w)
		if w.Code != http.StatusOK {
			return
		}
		if back := s.serve(t.Context(), "PUT", seedPath+"?dryRun=All", w.Body.String(), "Content-Type", "application/json"); back.Code != http.StatusOK {
			t.Errorf("%s gives a pod that is refused: %d %s\n%s", contentType, back.Code, back.Body, w.Body)
		}
	})
}

// FuzzContinue goes on with lists by any token. One that is taken gives what a
// list gives.
func FuzzContinue(f *testing.F) {
	s := fuzzServer(f)
	var pod corev1.Pod
	s.do(f, "POST", podPath, podJSON("tree"), 201, &pod)
	list, err := s.registry.List(f.Context(), api.Pods, "default", registry.ListOptions{Limit: 1})
	if err != nil {
		f.Fatal(err)
	}
	for _, token := range []string{list.Meta.Continue, "", "x", "e30", "eyJydiI6MSwiYWZ0ZXIiOiJ4In0", "eyJydiI6OTIyMzM3MjAzNjg1NDc3NTgwNywiYWZ0ZXIiOiIuLiJ9"} {
		f.Add(token)
	}
	f.Fuzz(func(t *testing.T, token string) {
		w := s.serve(t.Context(), "GET", podPath+"?limit=1&continue="+url.QueryEscape(token), "")
		checkAnswer(t, w)
		switch w.Code {
		case http.StatusOK:
			var pods corev1.PodList
			if err := json.NewDecoder(io.LimitReader(w.Body, MaxBodyBytes)).Decode(&pods); err != nil || len(pods.Items) > 1 {
				t.Errorf("%d pods, %v", len(pods.Items), err)
			}
		case http.StatusBadRequest, http.StatusGone:
		default:
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}
