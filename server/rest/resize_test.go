// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestResize(t *testing.T) {
	s := newServer(t)
	const path = podPath + "/web/resize"
	var pod corev1.Pod
	s.do(t, "POST", podPath, `{"metadata":{"name":"web"},"spec":{"containers":[{"name":"c","image":"nginx:1","resources":{"requests":{"cpu":"1"}}}]}}`, 201, &pod)

	for _, tc := range []struct{ mediaType, patch, want string }{
		{"application/strategic-merge-patch+json", `{"spec":{"containers":[{"name":"c","image":"other","resources":{"requests":{"cpu":"2"}}}]}}`, "2"},
		{"application/json-patch+json", `[{"op":"replace","path":"/spec/containers/0/resources/requests/cpu","value":"3"}]`, "3"},
		{"application/apply-patch+yaml", `{"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"4"}}}]}}`, "4"},
	} {
		at := path
		if tc.mediaType == "application/apply-patch+yaml" {
			at += "?fieldManager=me&force=true"
		}
		before := pod.Generation
		s.do(t, "PATCH", at, tc.patch, 200, &pod, "Content-Type", tc.mediaType)
		c := pod.Spec.Containers[0]
		if got := c.Resources.Requests.Cpu().String(); got != tc.want || c.Image != "nginx:1" || pod.Generation != before+1 {
			t.Errorf("%s: cpu %s of %s, generation %d", tc.mediaType, got, c.Image, pod.Generation)
		}
	}

	pod.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("5")
	pod.Labels = map[string]string{"dropped": "yes"}
	body, err := json.Marshal(&pod)
	if err != nil {
		t.Fatal(err)
	}
	s.do(t, "PUT", path, string(body), 200, &pod)
	var got corev1.Pod
	s.do(t, "GET", path, "", 200, &got)
	if got.Spec.Containers[0].Resources.Requests.Cpu().String() != "5" || got.Labels != nil || got.Kind != "Pod" {
		t.Errorf("%+v", got)
	}

	var status metav1.Status
	s.do(t, "PATCH", path, `{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":null}}}]}}`, 422, &status,
		"Content-Type", "application/strategic-merge-patch+json")
	if want := `Pod "web" is invalid: [spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing, ` +
		`spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed]`; status.Message != want {
		t.Errorf("%s, want %s", status.Message, want)
	}
	s.do(t, "PATCH", podPath+"/web", `{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"6"}}}]}}`, 422, &status,
		"Content-Type", "application/strategic-merge-patch+json")
}
