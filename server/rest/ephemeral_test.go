// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"encoding/json"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestEphemeralContainers(t *testing.T) {
	s := newServer(t)
	const path = podPath + "/web/ephemeralcontainers"
	var pod corev1.Pod
	s.do(t, "POST", podPath, podJSON("web"), 201, &pod)

	// As kubectl debug adds one.
	const patch = `{"spec":{"ephemeralContainers":[{"name":"a","image":"busybox:1","stdin":true,"targetContainerName":"c"}]}}`
	s.do(t, "PATCH", path, patch, 200, &pod, "Content-Type", "application/strategic-merge-patch+json")

	pod.Spec.EphemeralContainers = append(pod.Spec.EphemeralContainers,
		corev1.EphemeralContainer{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "b", Image: "busybox:1"}})
	body, err := json.Marshal(&pod)
	if err != nil {
		t.Fatal(err)
	}
	s.do(t, "PUT", path, string(body), 200, &pod)

	var got corev1.Pod
	s.do(t, "GET", path, "", 200, &got)
	var names []string
	for _, e := range got.Spec.EphemeralContainers {
		names = append(names, e.Name)
	}
	if slices.Sort(names); !slices.Equal(names, []string{"a", "b"}) || got.Kind != "Pod" {
		t.Errorf("%s with %q", got.Kind, names)
	}

	var status metav1.Status
	s.do(t, "PATCH", path, `{"spec":{"ephemeralContainers":[{"name":"d","image":"i","targetContainerName":"x"}]}}`, 422, &status,
		"Content-Type", "application/strategic-merge-patch+json")
	if want := `Pod "web" is invalid: spec.ephemeralContainers[0].targetContainerName: Not found: "x"`; status.Message != want {
		t.Errorf("%s, want %s", status.Message, want)
	}
	s.do(t, "PUT", podPath+"/none/ephemeralcontainers", podJSON("none"), 404, &status)
}
