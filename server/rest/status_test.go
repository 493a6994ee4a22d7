// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// statusText is a Status as its reader compares it: with causes as "reason field:
// message".
type statusText struct {
	Code    int32
	Reason  metav1.StatusReason
	Message string
	// Object is "kind name" of what it is about.
	Object string
	Causes []string
}

func readStatus(t *testing.T, body []byte) statusText {
	t.Helper()
	var s metav1.Status
	if err := json.Unmarshal(body, &s); err != nil || s.Kind != "Status" || s.APIVersion != "v1" || s.Status != metav1.StatusFailure {
		t.Fatalf("%v: no failure Status: %s", err, body)
	}
	out := statusText{Code: s.Code, Reason: s.Reason, Message: s.Message}
	if s.Details != nil {
		out.Object = strings.TrimSpace(s.Details.Kind + " " + s.Details.Name)
		for _, c := range s.Details.Causes {
			out.Causes = append(out.Causes, strings.TrimSpace(fmt.Sprintf("%s %s: %s", c.Type, c.Field, c.Message)))
		}
	}
	return out
}

// TestExactStatus: what programs and people read of a request that is refused.
func TestExactStatus(t *testing.T) {
	const (
		configMaps = "/api/v1/namespaces/default/configmaps"
		secrets    = "/api/v1/namespaces/default/secrets"
		leases     = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
		changeRule = "pod updates may not change fields other than `spec.containers[*].image`, `spec.initContainers[*].image`, " +
			"`spec.activeDeadlineSeconds` (only shortened) and `spec.tolerations` (only added to)"
	)
	merge := []string{"Content-Type", "application/merge-patch+json"}
	invalid := func(object, message string, causes ...string) statusText {
		kind, name, _ := strings.Cut(object, " ")
		return statusText{422, metav1.StatusReasonInvalid, fmt.Sprintf("%s %q is invalid: %s", kind, name, message), object, causes}
	}
	for name, tc := range map[string]struct {
		request string
		body    string
		header  []string
		want    statusText
	}{
		"absent pod": {"GET " + podPath + "/none", "", nil,
			statusText{404, "NotFound", `pods "none" not found`, "pods none", nil}},
		"absent namespace": {"POST /api/v1/namespaces/none/pods", podJSON("a"), nil,
			statusText{404, "NotFound", `namespaces "none" not found`, "namespaces none", nil}},
		"taken name": {"POST " + podPath, podJSON("taken"), nil,
			statusText{409, "AlreadyExists", `pods "taken" already exists`, "pods taken", nil}},
		"absent path": {"GET /apis/nope/v1/things", "", nil,
			statusText{404, "NotFound", "the server could not find the requested resource", "", nil}},
		"name with capitals": {"POST " + configMaps, `{"metadata":{"name":"Bad"}}`, nil,
			invalid("ConfigMap Bad", "metadata.name: Invalid value: \"Bad\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
				"FieldValueInvalid metadata.name: Invalid value: \"Bad\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')")},
		"no name": {"POST " + leases, `{}`, nil,
			statusText{422, "Invalid", `Lease.coordination.k8s.io "" is invalid: metadata.name: Required value: name or generateName is required`, "Lease",
				[]string{"FieldValueRequired metadata.name: Required value: name or generateName is required"}}},
		"pod without containers": {"POST " + podPath, `{"metadata":{"name":"p"}}`, nil,
			invalid("Pod p", "spec.containers: Required value", "FieldValueRequired spec.containers: Required value")},
		"several faults": {"POST " + podPath, `{"metadata":{"name":"p"},"spec":{"restartPolicy":"Sometimes","containers":[{"name":"C"},{"name":"c","image":"i"},{"name":"c","image":"i"}]}}`, nil,
			invalid("Pod p", "[spec.containers[0].name: Invalid value: \"C\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?'), spec.containers[0].image: Required value, spec.containers[2].name: Duplicate value: \"c\", spec.restartPolicy: Unsupported value: \"Sometimes\": supported values: \"Always\", \"Never\", \"OnFailure\"]",
				"FieldValueInvalid spec.containers[0].name: Invalid value: \"C\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
				"FieldValueRequired spec.containers[0].image: Required value",
				"FieldValueDuplicate spec.containers[2].name: Duplicate value: \"c\"",
				"FieldValueNotSupported spec.restartPolicy: Unsupported value: \"Sometimes\": supported values: \"Always\", \"Never\", \"OnFailure\"")},
		"field not honoured": {"POST " + podPath, `{"metadata":{"name":"p"},"spec":{"resourceClaims":[{"name":"r"}],"containers":[{"name":"c","image":"i"}]}}`, nil,
			invalid("Pod p", "spec.resourceClaims: Forbidden: not honoured by this version of berth",
				"FieldValueForbidden spec.resourceClaims: Forbidden: not honoured by this version of berth")},
		"pod of Windows": {"POST " + podPath, `{"metadata":{"name":"p"},"spec":{"os":{"name":"windows"},"containers":[{"name":"c","image":"i"}]}}`, nil,
			invalid("Pod p", "spec.os.name: Forbidden: berth runs Linux pods only", "FieldValueForbidden spec.os.name: Forbidden: berth runs Linux pods only")},
		"another container": {"PATCH " + podPath + "/taken", `{"spec":{"containers":[]}}`, merge,
			invalid("Pod taken", "[spec.containers: Required value, spec.containers: Forbidden: pod updates may not add or remove containers]",
				"FieldValueRequired spec.containers: Required value", "FieldValueForbidden spec.containers: Forbidden: pod updates may not add or remove containers")},
		"change of a running pod": {"PATCH " + podPath + "/taken", `{"spec":{"terminationGracePeriodSeconds":7}}`, merge,
			invalid("Pod taken", "spec.terminationGracePeriodSeconds: Forbidden: "+changeRule,
				"FieldValueForbidden spec.terminationGracePeriodSeconds: Forbidden: "+changeRule)},
		"immutable ConfigMap": {"PATCH " + configMaps + "/fixed", `{"data":{"k":"w"}}`, merge,
			invalid("ConfigMap fixed", "data: Forbidden: field is immutable when `immutable` is set",
				"FieldValueForbidden data: Forbidden: field is immutable when `immutable` is set")},
		"bad quantity": {"POST " + podPath, `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"lots"}}}]}}`, nil,
			statusText{400, "BadRequest", `Pod in version "v1" cannot be handled as a Pod: spec.containers[0].resources.limits[cpu]: Invalid value: "lots": quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`, "", nil}},
		"secret of a type without its keys": {"POST " + secrets, `{"metadata":{"name":"s"},"type":"kubernetes.io/tls"}`, nil,
			invalid("Secret s", "[data[tls.crt]: Required value, data[tls.key]: Required value]",
				"FieldValueRequired data[tls.crt]: Required value", "FieldValueRequired data[tls.key]: Required value")},
		"old version": {"PUT " + configMaps + "/fixed", `{"metadata":{"name":"fixed","resourceVersion":"1"}}`, nil,
			statusText{409, "Conflict", `Operation cannot be fulfilled on configmaps "fixed": the object has been modified; please apply your changes to the latest version and try again`, "configmaps fixed", nil}},
		"selector": {"GET " + podPath + "?labelSelector=a+in", "", nil,
			statusText{400, "BadRequest", `unable to parse label selector "a in": unable to parse requirement: found '' expected: '('`, "", nil}},
		"field selector": {"GET " + podPath + "?fieldSelector=spec.image%3Dx", "", nil,
			statusText{400, "BadRequest", `unable to find "pods" that match field selector "spec.image=x": field label not supported: spec.image`, "", nil}},
		"continue": {"GET " + podPath + "?continue=nope", "", nil,
			statusText{400, "BadRequest", "continue key is not valid: it is none that this server gave; start a new list without it", "", nil}},
		"future version": {"GET " + podPath + "?resourceVersion=9007199254740000&resourceVersionMatch=NotOlderThan", "", nil,
			statusText{504, "Timeout", "Timeout: Too large resource version: 9007199254740000, current: HEAD", "", []string{"ResourceVersionTooLarge : Too large resource version"}}},
		"grace below 0": {"DELETE " + podPath + "/taken?gracePeriodSeconds=-1", "", nil,
			invalid("Pod taken", "gracePeriodSeconds: Invalid value: -1: must be greater than or equal to 0",
				"FieldValueInvalid gracePeriodSeconds: Invalid value: -1: must be greater than or equal to 0")},
		"delete with a pod for options": {"DELETE " + podPath + "/taken", `{"kind":"Pod","apiVersion":"v1"}`, nil,
			statusText{400, "BadRequest", "the body of the request is a Pod, not DeleteOptions", "", nil}},
		"dry run": {"POST " + podPath + "?dryRun=Some", podJSON("p"), nil,
			statusText{422, "Invalid", `Options.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"`, "Options",
				[]string{`FieldValueNotSupported dryRun: Unsupported value: ["Some"]: supported values: "All"`}}},
		"accept": {"GET " + podPath, "", []string{"Accept", "image/png"},
			statusText{406, "NotAcceptable", "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf", "", nil}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			var pod corev1.Pod
			var fixed corev1.ConfigMap
			s.do(t, "POST", podPath, podJSON("taken"), 201, &pod)
			s.do(t, "POST", configMaps, `{"metadata":{"name":"fixed"},"data":{"k":"v"},"immutable":true}`, 201, &fixed)
			method, path, _ := strings.Cut(tc.request, " ")
			resp, body := s.call(t, method, path, tc.body, tc.header...)
			got := readStatus(t, body)
			tc.want.Message = strings.ReplaceAll(tc.want.Message, "HEAD", fixed.ResourceVersion)
			if diff := cmp.Diff(tc.want, got); diff != "" || int32(resp.StatusCode) != got.Code {
				t.Errorf("%d\n%s", resp.StatusCode, diff)
			}
		})
	}
}
