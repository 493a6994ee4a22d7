// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func TestHostnames(t *testing.T) {
	long := strings.Repeat("a", 62)
	for title, tt := range map[string]struct {
		name                 string
		change               func(*corev1.PodSpec)
		host, domain, kernel string
		err                  string
	}{
		"the pod's name": {"web", nil, "web", "", "web", ""},
		"a long name":    {long + "bcdef", nil, long + "b", "", long + "b", ""},
		"cut at a dash":  {long + "-bc", nil, long, "", long, ""},
		"a hostname":     {"web", func(s *corev1.PodSpec) { s.Hostname = "db-0" }, "db-0", "", "db-0", ""},
		"a subdomain":    {"web", func(s *corev1.PodSpec) { s.Subdomain = "db" }, "web", "db.default.svc.cluster.local", "web", ""},
		"no domain":      {"web", func(s *corev1.PodSpec) { s.SetHostnameAsFQDN = ptr.To(true) }, "web", "", "web", ""},
		"in full":        {"web", func(s *corev1.PodSpec) { s.Subdomain, s.SetHostnameAsFQDN = "db", ptr.To(true) }, "web", "db.default.svc.cluster.local", "web.db.default.svc.cluster.local", ""},
		"too long":       {long, func(s *corev1.PodSpec) { s.Subdomain, s.SetHostnameAsFQDN = "db", ptr.To(true) }, long, "db.default.svc.cluster.local", "", "is too long (64 characters is the max, 91 characters requested)"},
		"another name": {"web", func(s *corev1.PodSpec) {
			s.Hostname, s.Subdomain, s.HostnameOverride = "h", "db", ptr.To("a.example.com")
		}, "a.example.com", "", "a.example.com", ""},
		"no other name": {"web", func(s *corev1.PodSpec) { s.HostnameOverride = ptr.To("") }, "web", "", "web", ""},
	} {
		t.Run(title, func(t *testing.T) {
			pod := testPod()
			pod.Name = tt.name
			if tt.change != nil {
				tt.change(&pod.Spec)
			}
			if host, domain := podHostname(pod, "cluster.local"); host != tt.host || domain != tt.domain {
				t.Errorf("name %q, domain %q; want %q, %q", host, domain, tt.host, tt.domain)
			}
			kernel, err := kernelHostname(pod, "cluster.local")
			if kernel != tt.kernel || (err != nil) != (tt.err != "") || err != nil && !strings.HasSuffix(err.Error(), tt.err) {
				t.Errorf("the kernel's name: %q, %v; want %q, %q", kernel, err, tt.kernel, tt.err)
			}
		})
	}
}

func TestHostsFile(t *testing.T) {
	h := newHarness(t)
	pod := testPod("web")
	pod.Spec.Subdomain = "db"
	pod.Spec.HostAliases = []corev1.HostAlias{{IP: "10.1.2.3", Hostnames: []string{"a", "b"}}, {IP: "fd00::1", Hostnames: []string{"c"}}}
	got, err := h.hostsFile(pod, []string{"10.0.0.7", "fd00::7"})
	want := "10.0.0.7\tweb.db.default.svc.cluster.local\tweb\nfd00::7\tweb.db.default.svc.cluster.local\tweb\n" +
		"\n# Entries added by HostAliases.\n10.1.2.3\ta\tb\nfd00::1\tc\n"
	if err != nil || !strings.HasPrefix(string(got), hostsHeader+"127.0.0.1\tlocalhost\n") || !strings.HasSuffix(string(got), want) {
		t.Errorf("hosts file: %v\n%s", err, got)
	}
	pod.Spec.HostNetwork = true
	got, err = h.hostsFile(pod, nil)
	if err != nil || strings.Contains(string(got), "10.0.0.7") || !strings.HasSuffix(string(got), "10.1.2.3\ta\tb\nfd00::1\tc\n") {
		t.Errorf("hosts file in the node's network: %v\n%s", err, got)
	}
}
