// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestFieldRefValue(t *testing.T) {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "p", UID: "u",
			Labels:      map[string]string{"b": "2", "a": "1"},
			Annotations: map[string]string{"text": "two\nlines \"quoted\"", "example.com/Key": "v"},
		},
		Spec: corev1.PodSpec{ServiceAccountName: "robot"},
	}
	at := Place{NodeName: "n", HostIPs: []string{"192.0.2.1", "2001:db8::1"}, PodIPs: []string{"10.0.0.2", "fd00::2"}}
	for path, want := range map[string]string{
		"metadata.name":                           "p",
		"metadata.namespace":                      "ns",
		"metadata.uid":                            "u",
		"metadata.labels":                         "a=\"1\"\nb=\"2\"",
		"metadata.annotations":                    "example.com/Key=\"v\"\n" + `text="two\nlines \"quoted\""`,
		"metadata.labels['a']":                    "1",
		"metadata.labels['none']":                 "",
		"metadata.annotations['example.com/Key']": "v",
		"spec.nodeName":                           "n",
		"spec.serviceAccountName":                 "robot",
		"status.hostIP":                           "192.0.2.1",
		"status.hostIPs":                          "192.0.2.1,2001:db8::1",
		"status.podIP":                            "10.0.0.2",
		"status.podIPs":                           "10.0.0.2,fd00::2",
	} {
		if got, err := FieldRefValue(pod, path, at); err != nil || got != want {
			t.Errorf("%s = %q, %v; want %q", path, got, err, want)
		}
	}
	for _, path := range []string{"", "spec.x", "metadata.labels['a", "metadata.name['a']"} {
		if got, err := FieldRefValue(pod, path, at); err == nil {
			t.Errorf("%s = %q; want an error", path, got)
		}
	}
	if got, err := FieldRefValue(pod, "status.podIP", Place{}); err != nil || got != "" {
		t.Errorf("without an address: %q, %v", got, err)
	}
}

func TestResourceFieldRefValue(t *testing.T) {
	c := &corev1.Container{Resources: corev1.ResourceRequirements{
		Limits:   corev1.ResourceList{"cpu": resource.MustParse("1500m"), "memory": resource.MustParse("100Mi")},
		Requests: corev1.ResourceList{"cpu": resource.MustParse("250m")},
	}}
	allocatable := corev1.ResourceList{"cpu": resource.MustParse("4"), "ephemeral-storage": resource.MustParse("10Gi")}
	for _, tc := range []struct{ resource, divisor, want string }{
		{"limits.cpu", "", "2"},
		{"limits.cpu", "1m", "1500"},
		{"requests.cpu", "1m", "250"},
		{"requests.cpu", "1", "1"},
		{"limits.memory", "", "104857600"},
		{"limits.memory", "1Mi", "100"},
		{"limits.memory", "1M", "105"},
		{"requests.memory", "1Mi", "0"},
		{"limits.ephemeral-storage", "1Gi", "10"},
		{"requests.ephemeral-storage", "", "0"},
		{"limits.hugepages-2Mi", "1Mi", "0"},
	} {
		ref := &corev1.ResourceFieldSelector{Resource: tc.resource}
		if tc.divisor != "" {
			ref.Divisor = resource.MustParse(tc.divisor)
		}
		if got, err := ResourceFieldRefValue(ref, c, allocatable); err != nil || got != tc.want {
			t.Errorf("%s in units of %q = %q, %v; want %q", tc.resource, tc.divisor, got, err, tc.want)
		}
	}
	if _, err := ResourceFieldRefValue(&corev1.ResourceFieldSelector{Resource: "cpu"}, c, nil); err == nil {
		t.Error("a path that names no list was taken")
	}
}

func TestValidateResourceFieldRef(t *testing.T) {
	for name, tc := range map[string]struct {
		container, resource, divisor string
		fromVolume                   bool
		want                         string // part of the error; none if empty
	}{
		"environment":       {"", "limits.cpu", "1m", false, ""},
		"volume":            {"a", "requests.memory", "1Mi", true, ""},
		"huge pages":        {"a", "limits.hugepages-2Mi", "1Mi", true, ""},
		"no container":      {"", "limits.cpu", "", true, "ref.containerName: Required value"},
		"no resource":       {"a", "", "", true, "ref.resource: Required value"},
		"other resource":    {"a", "limits.gpu", "", true, `ref.resource: Unsupported value: "limits.gpu": supported values: "limits.cpu"`},
		"cpu divisor":       {"a", "limits.cpu", "2", true, `ref.divisor: Invalid value: "2": only divisor's values 1m and 1 are supported with the cpu resource`},
		"memory divisor":    {"a", "limits.memory", "1m", true, "are supported with the memory resource"},
		"storage divisor":   {"a", "limits.ephemeral-storage", "3", true, "are supported with the local ephemeral storage resource"},
		"huge page divisor": {"a", "requests.hugepages-2Mi", "3", true, "are supported with the hugepages resource"},
	} {
		t.Run(name, func(t *testing.T) {
			ref := &corev1.ResourceFieldSelector{ContainerName: tc.container, Resource: tc.resource}
			if tc.divisor != "" {
				ref.Divisor = resource.MustParse(tc.divisor)
			}
			errs := validateResourceFieldRef(ref, tc.fromVolume, field.NewPath("ref"))
			switch {
			case tc.want == "" && len(errs) > 0:
				t.Error(errs)
			case tc.want != "" && (len(errs) != 1 || !strings.Contains(errs[0].Error(), tc.want)):
				t.Errorf("got %v, want %s", errs, tc.want)
			}
		})
	}
}
