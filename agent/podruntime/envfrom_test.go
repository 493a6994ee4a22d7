// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
)

func fromConfigMap(name, prefix string, optional bool) corev1.EnvFromSource {
	return corev1.EnvFromSource{Prefix: prefix, ConfigMapRef: &corev1.ConfigMapEnvSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: name}, Optional: ptr.To(optional)}}
}

func fromSecret(name, prefix string, optional bool) corev1.EnvFromSource {
	return corev1.EnvFromSource{Prefix: prefix, SecretRef: &corev1.SecretEnvSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: name}, Optional: ptr.To(optional)}}
}

// The order is that of the sources, and of keys within one; env comes last.
func TestEnvFrom(t *testing.T) {
	h := newHarness(t)
	h.objects["settings"] = &corev1.ConfigMap{Data: map[string]string{"MODE": "fast", "HOST": "a", "1-a.b": "any"}}
	h.objects["keys"] = &corev1.Secret{Data: map[string][]byte{"HOST": []byte("b"), "KEY": []byte("s3cret")}}
	pod := testPod("web")
	c := &pod.Spec.Containers[0]
	c.EnvFrom = []corev1.EnvFromSource{
		fromConfigMap("settings", "", false), fromConfigMap("absent", "", true), fromSecret("absent", "", true),
		fromSecret("keys", "", false), fromSecret("keys", "P_", false),
	}
	c.Env = []corev1.EnvVar{{Name: "MODE", Value: "$(MODE)er"}, {Name: "URL", Value: "$(HOST)/$(P_KEY)"}}
	got, err := h.environment(pod, c, nil, new(execSize))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, v := range got.list() {
		list = append(list, v.GetKey()+"="+string(v.GetValue()))
	}
	want := []string{"1-a.b=any", "HOST=b", "MODE=faster", "KEY=s3cret", "P_HOST=b", "P_KEY=s3cret", "URL=b/s3cret"}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("env (-want +got):\n%s", diff)
	}
}

func TestEnvFromNeedsItsObjects(t *testing.T) {
	h := newHarness(t)
	h.objects["large"] = &corev1.ConfigMap{Data: map[string]string{"K": strings.Repeat("x", maxString)}}
	for want, source := range map[string]corev1.EnvFromSource{
		"envFrom[0]: ConfigMap default/absent not found": fromConfigMap("absent", "", false),
		"envFrom[0]: Secret default/absent not found":    fromSecret("absent", "", false),
		"envFrom[0]: key K: longer than 128 KiB":         fromConfigMap("large", "", false),
	} {
		pod := testPod("web")
		pod.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{source}
		_, err := h.environment(pod, &pod.Spec.Containers[0], nil, new(execSize))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestResourceFieldOfAContainer(t *testing.T) {
	h := newHarness(t)
	pod := testPod("web", "other")
	ref := func(container string) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{ContainerName: container, Resource: "limits.cpu"}}
	}
	pod.Spec.Containers[1].Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1500m")}
	c := &pod.Spec.Containers[0]
	c.Env = []corev1.EnvVar{{Name: "OWN", ValueFrom: ref("")}, {Name: "OTHER", ValueFrom: ref("other")}}
	got, err := h.environment(pod, c, nil, new(execSize))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"OWN": "4", "OTHER": "2"}, got.values); diff != "" {
		t.Errorf("env (-want +got):\n%s", diff)
	}
	c.Env = []corev1.EnvVar{{Name: "ABSENT", ValueFrom: ref("absent")}}
	if _, err := h.environment(pod, c, nil, new(execSize)); err == nil {
		t.Error("a container that is not there has resources")
	}
}
