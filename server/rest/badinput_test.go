// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestBadInput(t *testing.T) {
	s := newServer(t)
	var pod corev1.Pod
	s.do(t, "POST", podPath, podJSON("taken"), 201, &pod)
	const configMaps = "/api/v1/namespaces/default/configmaps"

	tests := []struct {
		name         string
		method, path string
		body         string
		header       []string
		code         int
		reason       metav1.StatusReason
		message      string // a part of it
	}{
		{"malformed JSON", "POST", podPath, `{"kind":"Pod",`, nil, 400, "BadRequest", "unexpected"},
		{"JSON that is no object", "POST", podPath, `["Pod"]`, nil, 400, "BadRequest", "not a JSON object"},
		{"YAML that calls itself JSON", "POST", podPath, "kind: Pod\n", nil, 400, "BadRequest", "application/yaml"},
		{"malformed YAML", "POST", podPath, "a: b: c\n\t-", []string{"Content-Type", "application/yaml"}, 400, "BadRequest", "yaml"},
		{"two YAML documents", "POST", configMaps, "metadata: {name: a}\n---\nmetadata: {name: b}\n",
			[]string{"Content-Type", "application/yaml"}, 400, "BadRequest", "more than one YAML document"},
		{"empty body", "POST", podPath, "", nil, 400, "BadRequest", "carries no Pod"},
		{"empty update", "PUT", podPath + "/taken", "", nil, 400, "BadRequest", "carries no Pod"},
		{"empty binding", "POST", podPath + "/taken/binding", "", nil, 400, "BadRequest", "carries no Binding"},
		{"wrong type of a field", "POST", podPath, `{"metadata":{"name":7}}`, nil, 400, "BadRequest", "name"},
		{"bad quantity", "POST", podPath, strings.Replace(podJSON("q"), "1Gi", "much", 1), nil, 400, "BadRequest", "quantities"},
		{"wrong kind", "POST", podPath, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"}}`, nil, 400, "BadRequest", "cannot be handled as a Pod"},
		{"wrong apiVersion", "POST", podPath, `{"apiVersion":"apps/v1","kind":"Pod","metadata":{"name":"a"}}`, nil, 400, "BadRequest", "apps/v1"},
		{"unknown field, strict", "POST", podPath + "?fieldValidation=Strict", `{"metadata":{"name":"a"},"spec":{"colour":"red"}}`, nil, 400, "BadRequest", `unknown field "spec.colour"`},
		{"unknown fieldValidation", "POST", podPath + "?fieldValidation=Nearly", podJSON("a"), nil, 400, "BadRequest", "fieldValidation"},
		{"unknown namespace", "POST", "/api/v1/namespaces/nowhere/pods", podJSON("a"), nil, 404, "NotFound", `namespaces "nowhere" not found`},
		{"name taken", "POST", podPath, podJSON("taken"), nil, 409, "AlreadyExists", `pods "taken" already exists`},
		{"invalid name", "POST", podPath, podJSON("Not_A_Name"), nil, 422, "Invalid", "metadata.name"},
		{"no containers", "POST", podPath, `{"metadata":{"name":"a"},"spec":{}}`, nil, 422, "Invalid", "spec.containers"},
		{"number beyond its type", "POST", podPath, strings.Replace(podJSON("a"), `"nodeName"`, `"activeDeadlineSeconds":9223372036854775808,"nodeName"`, 1), nil, 400, "BadRequest", "activeDeadlineSeconds"},
		{"absurd deadline", "POST", podPath, strings.Replace(podJSON("a"), `"nodeName"`, `"activeDeadlineSeconds":9223372036854775807,"nodeName"`, 1), nil, 422, "Invalid", "spec.activeDeadlineSeconds: Invalid value: 9223372036854775807: must be between 1 and 2147483647, inclusive"},
		{"text that is not UTF-8", "POST", podPath, strings.Replace(podJSON("a"), `"nodeName"`, "\"hostname\":\"a\xff\",\"nodeName\"", 1), nil, 400, "BadRequest", "spec.hostname: must be valid UTF-8"},
		{"negative grace in the spec", "POST", podPath, strings.Replace(podJSON("a"), `"nodeName"`, `"terminationGracePeriodSeconds":-1,"nodeName"`, 1), nil, 422, "Invalid", "terminationGracePeriodSeconds"},
		{"resourceVersion on create", "POST", podPath, strings.Replace(podJSON("a"), `"labels"`, `"resourceVersion":"1","labels"`, 1), nil, 400, "BadRequest", "resourceVersion"},
		{"stale resourceVersion", "PUT", podPath + "/taken", strings.Replace(podJSON("taken"), `"labels"`, `"resourceVersion":"1","labels"`, 1), nil, 409, "Conflict", "has been modified"},
		{"name not that of the URL", "PUT", podPath + "/taken", podJSON("other"), nil, 400, "BadRequest", "does not match"},
		{"namespace not that of the URL", "POST", podPath, strings.Replace(podJSON("a"), `"labels"`, `"namespace":"kube-system","labels"`, 1), nil, 400, "BadRequest", "namespace"},
		{"update of what is not there", "PUT", podPath + "/absent", podJSON("absent"), nil, 404, "NotFound", `pods "absent" not found`},
		{"get of what is not there", "GET", podPath + "/absent", "", nil, 404, "NotFound", `pods "absent" not found`},
		{"name longer than any can be", "GET", podPath + "/" + strings.Repeat("a", 5000), "", nil, 404, "NotFound", "not found"},
		{"delete of what is not there", "DELETE", podPath + "/absent", "", nil, 404, "NotFound", `pods "absent" not found`},
		{"negative grace, body", "DELETE", podPath + "/taken", `{"gracePeriodSeconds":-1}`, nil, 422, "Invalid", "gracePeriodSeconds"},
		{"negative grace, query", "DELETE", podPath + "/taken?gracePeriodSeconds=-1", "", nil, 422, "Invalid", "gracePeriodSeconds"},
		{"wrong precondition", "DELETE", podPath + "/taken", `{"preconditions":{"uid":"another"}}`, nil, 409, "Conflict", "UID"},
		{"unknown delete option", "DELETE", podPath + "/taken", `{"grace":1}`, nil, 400, "BadRequest", "grace"},
		{"unknown propagation", "DELETE", podPath + "/taken?propagationPolicy=Sideways", "", nil, 422, "Invalid", "propagationPolicy"},
		{"dry run of another kind", "POST", podPath + "?dryRun=Some", podJSON("a"), nil, 422, "Invalid", "dryRun"},
		{"bad label selector", "GET", podPath + "?labelSelector=%21%21", "", nil, 400, "BadRequest", "selector"},
		{"bad field selector", "GET", podPath + "?fieldSelector=spec.colour%3Dred", "", nil, 400, "BadRequest", "spec.colour"},
		{"bad limit", "GET", podPath + "?limit=many", "", nil, 400, "BadRequest", "limit"},
		{"bad continue", "GET", podPath + "?limit=1&continue=x", "", nil, 400, "BadRequest", "continue"},
		{"sendInitialEvents of any version", "GET", podPath + "?watch=true&sendInitialEvents=true", "", nil, 422, "Invalid", "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"},
		{"match of no version", "GET", podPath + "?resourceVersionMatch=Exact", "", nil, 422, "Invalid", "resourceVersionMatch is forbidden unless resourceVersion is provided"},
		{"table that includes too much", "GET", podPath + "?includeObject=All", "", []string{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}, 400, "BadRequest", "includeObject"},
		{"bad selector of a watch", "GET", podPath + "?watch=true&fieldSelector=spec.colour%3Dred", "", nil, 400, "BadRequest", "spec.colour"},
		{"unknown path", "GET", "/nothing/here", "", nil, 404, "NotFound", "could not find the requested resource"},
		{"unknown resource", "GET", "/api/v1/namespaces/default/gadgets", "", nil, 404, "NotFound", "could not find the requested resource"},
		{"unknown group", "GET", "/apis/example.com/v1/gadgets", "", nil, 404, "NotFound", "could not find the requested resource"},
		{"patch of no type", "PATCH", podPath + "/taken", `{}`, nil, 415, "UnsupportedMediaType", "application/strategic-merge-patch+json"},
		{"patch of a collection", "PATCH", podPath, `{}`, []string{"Content-Type", "application/merge-patch+json"}, 405, "MethodNotAllowed", "PATCH"},
		{"patch without a body", "PATCH", podPath + "/taken", "", []string{"Content-Type", "application/merge-patch+json"}, 400, "BadRequest", "no body"},
		{"patch that is no object", "PATCH", podPath + "/taken", `[]`, []string{"Content-Type", "application/merge-patch+json"}, 400, "BadRequest", "cannot be read"},
		{"patch of nothing", "PATCH", podPath + "/none", `{}`, []string{"Content-Type", "application/merge-patch+json"}, 404, "NotFound", `pods "none" not found`},
		{"patch of the name", "PATCH", podPath + "/taken", `{"metadata":{"name":"other"}}`, []string{"Content-Type", "application/merge-patch+json"}, 400, "BadRequest", "does not match the name"},
		{"patch of an old version", "PATCH", podPath + "/taken", `{"metadata":{"resourceVersion":"1"}}`, []string{"Content-Type", "application/merge-patch+json"}, 409, "Conflict", "modified"},
		{"patch to another type", "PATCH", podPath + "/taken", `{"spec":{"containers":"none"}}`, []string{"Content-Type", "application/merge-patch+json"}, 422, "Invalid", "spec.containers"},
		{"strategic patch without a key", "PATCH", podPath + "/taken", `{"spec":{"containers":[{"image":"x"}]}}`, []string{"Content-Type", "application/strategic-merge-patch+json"}, 400, "BadRequest", "merge key"},
		{"JSON patch that is none", "PATCH", podPath + "/taken", `{}`, []string{"Content-Type", "application/json-patch+json"}, 400, "BadRequest", "JSON patch"},
		{"JSON patch of the whole without a value", "PATCH", podPath + "/taken", `[{"op":"replace","path":""}]`, []string{"Content-Type", "application/json-patch+json"}, 400, "BadRequest", "cannot be applied"},
		{"JSON patch whose test fails", "PATCH", podPath + "/taken", `[{"op":"test","path":"/metadata/name","value":"b"}]`, []string{"Content-Type", "application/json-patch+json"}, 422, "Invalid", "patch"},
		{"apply without a manager", "PATCH", podPath + "/taken", `{}`, []string{"Content-Type", "application/apply-patch+yaml"}, 422, "Invalid", "fieldManager: Required value"},
		{"apply of an unknown field", "PATCH", podPath + "/taken?fieldManager=me", `{"spec":{"nope":1}}`, []string{"Content-Type", "application/apply-patch+yaml"}, 400, "BadRequest", ".spec.nope: field not declared in schema"},
		{"forced patch", "PATCH", podPath + "/taken?force=true", `{}`, []string{"Content-Type", "application/merge-patch+json"}, 422, "Invalid", "force: Forbidden"},
		{"post to an object", "POST", podPath + "/taken", podJSON("taken"), nil, 405, "MethodNotAllowed", "POST"},
		{"post to a plain path", "POST", "/version", "", nil, 405, "MethodNotAllowed", "POST"},
		{"form", "POST", podPath, podJSON("a"), []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, "UnsupportedMediaType", "application/json"},
		{"not acceptable", "GET", podPath, "", []string{"Accept", "image/png"}, 406, "NotAcceptable", "application/json"},
		{"watch in YAML", "GET", podPath + "?watch=true", "", []string{"Accept", "application/yaml"}, 406, "NotAcceptable", "application/json"},
		{"2 MiB", "POST", configMaps, `{"metadata":{"name":"big"},"data":{"a":"` + strings.Repeat("x", 2<<20) + `"}}`, nil, 413, "RequestEntityTooLarge", "limit is 1572864 bytes"},
		{"bad log parameter", "GET", podPath + "/taken/log?tailLines=few", "", nil, 400, "BadRequest", "tailLines"},
		{"negative tail", "GET", podPath + "/taken/log?tailLines=-1", "", nil, 422, "Invalid", "tailLines"},
		{"log of what is not there", "GET", podPath + "/absent/log", "", nil, 404, "NotFound", `pods "absent" not found`},
		{"DNS rebinding", "GET", podPath, "", []string{"Host", "evil.example:8080"}, 403, "Forbidden", "evil.example"},
		{"another origin", "GET", podPath, "", []string{"Origin", "http://evil.example"}, 403, "Forbidden", "evil.example"},
		{"another site", "POST", podPath, podJSON("a"), []string{"Sec-Fetch-Site", "cross-site"}, 403, "Forbidden", "cross-site"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			resp, body := s.call(t, tt.method, tt.path, tt.body, tt.header...)
			var status metav1.Status
			if err := json.Unmarshal(body, &status); err != nil {
				t.Fatalf("not a Status: %v in %d %s", err, resp.StatusCode, body)
			}
			got := fmt.Sprint(resp.StatusCode, status.Code, status.Reason, status.Kind, status.Status)
			if want := fmt.Sprint(tt.code, tt.code, tt.reason, "Status", "Failure"); got != want {
				t.Errorf("%s, want %s: %s", got, want, body)
			}
			if !strings.Contains(status.Message, tt.message) {
				t.Errorf("message lacks %q: %s", tt.message, status.Message)
			}
		})
	}

	// All of it left everything else as it was.
	var list corev1.PodList
	s.do(t, "GET", "/api/v1/pods", "", 200, &list)
	if len(list.Items) != 1 || list.Items[0].ResourceVersion != pod.ResourceVersion || list.Items[0].DeletionTimestamp != nil {
		t.Errorf("%d pods left: %+v", len(list.Items), list.Items[0].ObjectMeta)
	}
}
