// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/berth-run/berth/api"
)

// podOf reads a Kubernetes protobuf body.
func podOf(t *testing.T, body []byte) corev1.Pod {
	t.Helper()
	var unknown runtime.Unknown
	var pod corev1.Pod
	envelope, ok := strings.CutPrefix(string(body), string(protobufPrefix))
	if !ok {
		t.Fatalf("not Kubernetes protobuf: %q", body)
	}
	if err := unknown.Unmarshal([]byte(envelope)); err != nil {
		t.Fatal(err)
	}
	if unknown.APIVersion != "v1" || unknown.Kind != "Pod" {
		t.Errorf("envelope: %+v", unknown.TypeMeta)
	}
	if err := pod.Unmarshal(unknown.Raw); err != nil {
		t.Fatal(err)
	}
	return pod
}

func protobufPod(t *testing.T, gvk schema.GroupVersionKind, change func(*corev1.Pod)) string {
	t.Helper()
	var pod corev1.Pod
	if err := json.Unmarshal([]byte(podJSON("proto")), &pod); err != nil {
		t.Fatal(err)
	}
	change(&pod)
	encoded, err := pod.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	body, err := protobufBody(gvk, encoded)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestProtobuf(t *testing.T) {
	s := newServer(t)
	const media = "application/vnd.kubernetes.protobuf"
	gvk := api.Pods.GroupVersionKind()
	body := protobufPod(t, gvk, func(*corev1.Pod) {})

	resp, answer := s.call(t, "POST", podPath, body, "Content-Type", media, "Accept", media+",application/json")
	if resp.StatusCode != 201 || resp.Header.Get("Content-Type") != media {
		t.Fatalf("%d %s %q", resp.StatusCode, resp.Header.Get("Content-Type"), answer)
	}
	pod := podOf(t, answer)
	if pod.UID == "" || pod.Spec.Volumes[0].EmptyDir.SizeLimit.String() != "1Gi" {
		t.Errorf("pod: %+v", pod)
	}
	_, answer = s.call(t, "GET", podPath+"/proto", "", "Accept", media)
	if got := podOf(t, answer); got.UID != pod.UID {
		t.Errorf("got %s, want %s", got.UID, pod.UID)
	}

	for name, body := range map[string]string{
		"of another kind":  protobufPod(t, api.Secrets.GroupVersionKind(), func(*corev1.Pod) {}),
		"without envelope": "k8",
		"cut off":          body[:len(body)/2],
		"not UTF-8":        protobufPod(t, gvk, func(p *corev1.Pod) { p.Spec.Containers[0].Command = []string{"\xff"} }),
	} {
		t.Run(name, func(t *testing.T) {
			resp, answer := s.call(t, "POST", podPath, body, "Content-Type", media)
			var status metav1.Status
			if err := json.Unmarshal(answer, &status); err != nil {
				t.Fatalf("%v: %q", err, answer)
			}
			if resp.StatusCode != 400 || status.Reason != metav1.StatusReasonBadRequest {
				t.Errorf("%d %s", resp.StatusCode, answer)
			}
		})
	}
}
