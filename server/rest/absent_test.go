// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berth-run/berth/api"
)

const deployments = "/apis/apps/v1/namespaces/default/deployments"

// TestAbsentKindsListAsEmpty: every kind, in every form that clients ask for.
func TestAbsentKindsListAsEmpty(t *testing.T) {
	s := newServer(t)
	for _, k := range api.AbsentKinds {
		path := k.Path() + "/" + k.Resource
		var list, table, partial struct {
			metav1.TypeMeta
			Metadata metav1.ListMeta
			Items    []json.RawMessage
			Rows     []json.RawMessage
		}
		s.do(t, "GET", path+"?labelSelector=a%3Db&fieldSelector=spec.x%3Dy&limit=500&resourceVersion=0", "", 200, &list)
		gvk := k.GroupVersionKind()
		if list.Kind != k.Name+"List" || list.APIVersion != gvk.GroupVersion().String() || list.Items == nil || len(list.Items) != 0 {
			t.Errorf("%s: %+v", path, list)
		}
		if list.Metadata.ResourceVersion == "" || list.Metadata.ResourceVersion == "0" {
			t.Errorf("%s: resourceVersion %q", path, list.Metadata.ResourceVersion)
		}
		s.doAccept(t, path, "application/json;as=Table;v=v1;g=meta.k8s.io,application/json", &table)
		if table.Kind != "Table" || table.Rows == nil || len(table.Rows) != 0 {
			t.Errorf("%s as a table: %+v", path, table)
		}
		s.doAccept(t, path, "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", &partial)
		if partial.Kind != "PartialObjectMetadataList" || partial.Items == nil {
			t.Errorf("%s as metadata: %+v", path, partial)
		}
	}
}

func (s *server) doAccept(t *testing.T, path, accept string, out any) {
	t.Helper()
	resp, body := s.call(t, "GET", path, "", "Accept", accept)
	if err := json.Unmarshal(body, out); err != nil || resp.StatusCode != 200 {
		t.Fatalf("%s: %d %s, %v", path, resp.StatusCode, body, err)
	}
}

func TestAbsentListInProtobuf(t *testing.T) {
	s := newServer(t)
	_, body := s.call(t, "GET", deployments, "", "Accept", "application/vnd.kubernetes.protobuf")
	var unknown runtime.Unknown
	var list metav1.List
	if err := unknown.Unmarshal(bytes.TrimPrefix(body, protobufPrefix)); err != nil {
		t.Fatal(err)
	}
	if err := list.Unmarshal(unknown.Raw); err != nil {
		t.Fatal(err)
	}
	if unknown.Kind != "DeploymentList" || unknown.APIVersion != "apps/v1" || list.ResourceVersion == "" {
		t.Errorf("%+v %+v", unknown.TypeMeta, list)
	}
}

func TestAbsentKindsRefuse(t *testing.T) {
	s := newServer(t)
	pods, item := "berth runs pods by themselves: it has no deployments. Create a Pod", deployments+"/web"
	for _, test := range []struct {
		method, path string
		code         int
		reason       metav1.StatusReason
		message      string
	}{
		{"GET", item, 404, "NotFound", `deployments.apps "web" not found`},
		{"GET", item + "/scale", 404, "NotFound", `deployments.apps "web" not found`},
		{"DELETE", item, 404, "NotFound", `deployments.apps "web" not found`},
		{"POST", deployments, 405, "MethodNotAllowed", pods},
		{"PUT", item, 405, "MethodNotAllowed", pods},
		{"PATCH", item, 405, "MethodNotAllowed", pods},
		{"DELETE", deployments, 405, "MethodNotAllowed", pods},
		{"POST", "/api/v1/namespaces/default/services", 405, "MethodNotAllowed", "it has no services"},
		{"GET", "/apis/apps/v1/namespaces/default/gadgets", 404, "NotFound", "could not find the requested resource"},
		{"GET", "/apis/apps/v1beta1/deployments", 404, "NotFound", "could not find the requested resource"},
	} {
		resp, body := s.call(t, test.method, test.path, "{}")
		var status metav1.Status
		if err := json.Unmarshal(body, &status); err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != test.code || status.Reason != test.reason || !strings.Contains(status.Message, test.message) {
			t.Errorf("%s %s: %d %s", test.method, test.path, resp.StatusCode, body)
		}
		known := test.code == 405 || strings.Contains(test.message, "web")
		if d := status.Details; known && (d == nil || !strings.Contains(test.path, "/"+d.Kind)) {
			t.Errorf("%s %s: details %+v", test.method, test.path, d)
		}
	}
}

// TestAbsentWatch: an informer gets the bookmark that it waits for, and then a
// watch that stays open.
func TestAbsentWatch(t *testing.T) {
	s := newServer(t)
	for _, path := range []string{
		deployments + "?watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan",
		"/apis/apps/v1/watch/deployments?sendInitialEvents=true&allowWatchBookmarks=true",
	} {
		w := s.watch(t, path)
		e, mark := w.next()
		if e.Type != "BOOKMARK" || mark.Kind != "Deployment" || mark.APIVersion != "apps/v1" ||
			mark.ResourceVersion == "" || mark.Annotations[metav1.InitialEventsAnnotationKey] != "true" {
			t.Errorf("%s: %s %s", path, e.Type, e.Object)
		}
		w.end()
	}
	// timeoutSeconds ends it in good order.
	resp, body := s.call(t, "GET", deployments+"?watch=1&timeoutSeconds=1", "")
	if resp.StatusCode != 200 || len(body) != 0 {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
}

// TestAbsentWatchBookmarks: a watch that wants bookmarks gets one in each
// interval, one that does not gets nothing; both end with their requests.
func TestAbsentWatchBookmarks(t *testing.T) {
	for query, want := range map[string]int{"": 0, "&allowWatchBookmarks=true": 3} {
		synctest.Test(t, func(t *testing.T) {
			revision := int64(7)
			ctx, cancel := context.WithTimeout(t.Context(), 3*bookmarkInterval+bookmarkInterval/2)
			defer cancel()
			r := httptest.NewRequestWithContext(ctx, http.MethodGet, deployments+"?watch=true"+query, nil)
			w := httptest.NewRecorder()
			serveAbsent(func() int64 { return revision })(w, r)
			body, _ := io.ReadAll(w.Result().Body)
			if got := strings.Count(string(body), `"BOOKMARK"`); got != want || strings.Count(string(body), `"resourceVersion":"7"`) != want {
				t.Errorf("%q: %s", query, body)
			}
		})
	}
}
