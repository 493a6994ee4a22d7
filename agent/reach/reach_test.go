// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package reach

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

var web = &corev1.Container{Name: "web", Ports: []corev1.ContainerPort{{ContainerPort: 1}, {Name: "http", ContainerPort: 8080}}}

func TestPort(t *testing.T) {
	for name, tc := range map[string]struct {
		port intstr.IntOrString
		want int
		err  string
	}{
		"a number":         {port: intstr.FromInt32(80), want: 80},
		"a name":           {port: intstr.FromString("http"), want: 8080},
		"a number as text": {port: intstr.FromString("81"), want: 81},
		"an unknown name":  {port: intstr.FromString("admin"), err: `container web has no port named "admin"`},
		"none":             {port: intstr.FromInt32(0), err: "port 0 is not between 1 and 65535"},
		"too large":        {port: intstr.FromString("65536"), err: "port 65536 is not between 1 and 65535"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Port(tc.port, web)
			if got != tc.want || (err == nil) != (tc.err == "") || err != nil && err.Error() != tc.err {
				t.Errorf("got %d, %v", got, err)
			}
		})
	}
}

func TestNewRequest(t *testing.T) {
	http := intstr.FromString("http")
	for name, tc := range map[string]struct {
		get   corev1.HTTPGetAction
		podIP string
		url   string
	}{
		"the pod":           {get: corev1.HTTPGetAction{Port: http, Path: "/ok"}, podIP: "10.0.0.1", url: "http://10.0.0.1:8080/ok"},
		"IPv6":              {get: corev1.HTTPGetAction{Port: http, Path: "/"}, podIP: "fd00::1", url: "http://[fd00::1]:8080/"},
		"a host, encrypted": {get: corev1.HTTPGetAction{Port: http, Host: "h", Scheme: "HTTPS", Path: "/"}, podIP: "10.0.0.1", url: "https://h:8080/"},
		"a query":           {get: corev1.HTTPGetAction{Port: http, Path: "/a?b=c#d"}, podIP: "10.0.0.1", url: "http://10.0.0.1:8080/a?b=c#d"},
		"not a URL":         {get: corev1.HTTPGetAction{Port: http, Path: "/a%zz"}, podIP: "10.0.0.1", url: "http://10.0.0.1:8080/a%25zz"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := NewRequest(t.Context(), &tc.get, web, tc.podIP, "agent")
			if err != nil || r.URL.String() != tc.url {
				t.Errorf("got %v, %v", r, err)
			}
		})
	}
	if _, err := NewRequest(t.Context(), &corev1.HTTPGetAction{Port: http}, web, "", "agent"); err == nil {
		t.Error("a request to a pod without an address")
	}
}

func TestNewRequestHeaders(t *testing.T) {
	request := func(headers ...corev1.HTTPHeader) (host, userAgent, accept string) {
		get := &corev1.HTTPGetAction{Port: intstr.FromInt32(80), HTTPHeaders: headers}
		r, err := NewRequest(t.Context(), get, web, "10.0.0.1", "agent")
		if err != nil {
			t.Fatal(err)
		}
		return r.Host, r.Header.Get("User-Agent"), r.Header.Get("Accept")
	}
	if host, userAgent, accept := request(); host != "10.0.0.1:80" || userAgent != "agent" || accept != "*/*" {
		t.Errorf("without headers: %q, %q, %q", host, userAgent, accept)
	}
	host, userAgent, accept := request(corev1.HTTPHeader{Name: "host", Value: "a.test"},
		corev1.HTTPHeader{Name: "User-Agent"}, corev1.HTTPHeader{Name: "Accept", Value: ""})
	if host != "a.test" || userAgent != "" || accept != "" {
		t.Errorf("with headers: %q, %q, %q", host, userAgent, accept)
	}
}
