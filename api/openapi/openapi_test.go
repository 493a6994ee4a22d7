// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package openapi

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"testing"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	openapi_v3 "github.com/google/gnostic-models/openapiv3"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/spec3"
	utilproto "k8s.io/kube-openapi/pkg/util/proto"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/berth-run/berth/api"
)

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	body, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// TestClientsLoadVersion2: kubectl reads it in this way.
func TestClientsLoadVersion2(t *testing.T) {
	doc, err := openapi_v2.ParseDocument(marshal(t, V2("v1")))
	if err != nil {
		t.Fatal(err)
	}
	models, err := utilproto.NewOpenAPIData(doc)
	if err != nil {
		t.Fatal(err)
	}
	requireMergeKey(t, models)
}

func TestClientsLoadVersion3(t *testing.T) {
	for _, path := range Paths() {
		body := marshal(t, V3(path, "v1"))
		if err := json.Unmarshal(body, &spec3.OpenAPI{}); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		doc, err := openapi_v3.ParseDocument(body)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		models, err := utilproto.NewOpenAPIV3Data(doc)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if path == api.Pods.Path() {
			requireMergeKey(t, models)
		}
	}
}

func requireMergeKey(t *testing.T, models utilproto.Models) {
	t.Helper()
	pod, ok := models.LookupModel("io.k8s.api.core.v1.PodSpec").(*utilproto.Kind)
	if !ok {
		t.Fatal("no PodSpec")
	}
	containers := pod.Fields["containers"].GetExtensions()
	if containers[patchMergeKey] != "name" || containers[patchStrategy] != "merge" {
		t.Errorf("containers: %v", containers)
	}
}

// TestApplyClientsTypeObjects: clients of server-side apply read objects by the
// schemas. One that does not describe a field fails here too.
func TestApplyClientsTypeObjects(t *testing.T) {
	for _, k := range api.Kinds {
		converter, err := managedfields.NewTypeConverter(V3(k.Path(), "v1").Components.Schemas, false)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := converter.ObjectToTyped(filled(k, 2)); err != nil {
			t.Errorf("%s: %v", k.Name, err)
		}
	}
}

var reference = regexp.MustCompile(`"\$ref":"([^"]*)"`)

// TestReferencesResolve: every document is whole by itself.
func TestReferencesResolve(t *testing.T) {
	for _, path := range Paths() {
		doc := V3(path, "v1")
		names := map[string]bool{}
		for name := range doc.Components.Schemas {
			names[string(v3)+name] = true
		}
		requireReferences(t, marshal(t, doc), names)
	}
	doc := V2("v1")
	names := map[string]bool{}
	for name := range doc.Definitions {
		names[string(v2)+name] = true
	}
	requireReferences(t, marshal(t, doc), names)
}

func requireReferences(t *testing.T, body []byte, names map[string]bool) {
	t.Helper()
	found := reference.FindAllSubmatch(body, -1)
	for _, m := range found {
		if !names[string(m[1])] {
			t.Errorf("%s leads nowhere", m[1])
		}
	}
	if len(found) == 0 {
		t.Error("no references")
	}
	for name := range names {
		if !regexp.MustCompile(`^#/(definitions|components/schemas)/io\.k8s\.(api|apimachinery)\.[\w.]+$`).MatchString(name) {
			t.Errorf("a schema has the name %s", name)
		}
	}
}

// operationsV3 returns the operations of a path, by method.
func operationsV3(p *spec3.Path) map[string]*spec3.Operation {
	out := map[string]*spec3.Operation{}
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		if op := *slotV3(p, method); op != nil {
			out[method] = op
		}
	}
	return out
}

// TestOperationsFollowVerbs: each verb of a kind, and no other, is an operation
// on its objects.
func TestOperationsFollowVerbs(t *testing.T) {
	actions := map[string]string{"list": "list", "get": "get", "post": "create", "put": "update",
		"patch": "patch", "delete": "delete", "deletecollection": "deletecollection"}
	for _, r := range resources() {
		var got []string
		for path, p := range V3(r.Path(), "v1").Paths.Paths {
			for method, op := range operationsV3(p) {
				var gvk map[string]string
				if err := op.Extensions.GetObject(groupVersionKind, &gvk); err != nil {
					t.Fatalf("%s %s: %v", method, path, err)
				}
				action, _ := op.Extensions.GetString("x-kubernetes-action")
				if gvk["kind"] == r.Name && gvk["group"] == r.Group && !slices.Contains(got, actions[action]) {
					got = append(got, actions[action])
				}
			}
		}
		want := slices.DeleteFunc(slices.Clone(r.verbs), func(v string) bool { return v == "watch" })
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: operations for %v, want %v", r.Resource, got, want)
		}
	}
}

func TestOperationIDsAreUnique(t *testing.T) {
	seen := map[string]string{}
	for path, item := range V2("v1").Paths.Paths {
		for _, op := range []*spec.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if op == nil {
				continue
			}
			if other, ok := seen[op.ID]; ok {
				t.Errorf("%s is on %s and on %s", op.ID, other, path)
			}
			seen[op.ID] = path
		}
	}
	if seen["readCoreV1NamespacedPodStatus"] != "/api/v1/namespaces/{namespace}/pods/{name}/status" {
		t.Errorf("ids are not those of Kubernetes: %v", seen)
	}
}

func TestParameters(t *testing.T) {
	paths := V3(api.Pods.Path(), "v1").Paths.Paths
	items, item := paths["/api/v1/namespaces/{namespace}/pods"], paths["/api/v1/namespaces/{namespace}/pods/{name}"]
	for _, test := range []struct {
		name       string
		parameters []*spec3.Parameter
		want       map[string]string
	}{
		{"list", items.Get.Parameters, map[string]string{"watch": "boolean", "limit": "integer", "labelSelector": "string", "sendInitialEvents": "boolean"}},
		{"create", items.Post.Parameters, map[string]string{"dryRun": "string", "fieldManager": "string", "fieldValidation": "string"}},
		{"patch", item.Patch.Parameters, map[string]string{"force": "boolean", "fieldValidation": "string"}},
		{"delete", item.Delete.Parameters, map[string]string{"gracePeriodSeconds": "integer", "propagationPolicy": "string"}},
		{"log", paths["/api/v1/namespaces/{namespace}/pods/{name}/log"].Get.Parameters, map[string]string{"follow": "boolean", "sinceTime": "string"}},
		{"path", item.Parameters, map[string]string{"namespace": "string", "name": "string"}},
	} {
		got := map[string]string{}
		for _, p := range test.parameters {
			got[p.Name] = p.Schema.Type[0]
		}
		for name, kind := range test.want {
			if got[name] != kind {
				t.Errorf("%s: %s is %q, want %s among %v", test.name, name, got[name], kind, got)
			}
		}
	}
	for _, want := range patchTypes {
		if item.Patch.RequestBody.Content[want] == nil {
			t.Errorf("PATCH has no %s", want)
		}
	}
}

// TestDialects: what differs between the versions.
func TestDialects(t *testing.T) {
	quantity, port := "io.k8s.apimachinery.pkg.api.resource.Quantity", "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
	third, second := V3(api.Pods.Path(), "v1").Components.Schemas, V2("v1").Definitions
	if q := third[quantity]; len(q.OneOf) != 2 || len(q.Type) != 0 {
		t.Errorf("version 3: %+v", q.SchemaProps)
	}
	if q := second[quantity]; !q.Type.Contains("string") || len(q.OneOf) != 0 {
		t.Errorf("version 2: %+v", q.SchemaProps)
	}
	if p := second[port]; p.Format != "int-or-string" || !p.Type.Contains("string") {
		t.Errorf("version 2: %+v", p.SchemaProps)
	}
	specOf := func(pod spec.Schema) spec.Schema { return pod.Properties["spec"] }
	if s := specOf(*third["io.k8s.api.core.v1.Pod"]); len(s.AllOf) != 1 || s.Description == "" {
		t.Errorf("version 3: %+v", s.SchemaProps)
	}
	if s := specOf(second["io.k8s.api.core.v1.Pod"]); s.Ref.String() == "" || s.Description == "" {
		t.Errorf("version 2: %+v", s.SchemaProps)
	}
}
