// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func TestNamesOfAPod(t *testing.T) {
	const script = `echo "hostname $(hostname)"; cat /etc/hosts; cat /etc/resolv.conf`
	aliases := []corev1.HostAlias{{IP: "10.1.2.3", Hostnames: []string{"foo.local", "bar.local"}}}
	for name, tt := range map[string]struct {
		change func(*corev1.PodSpec)
		lines  func(p *corev1.Pod) []string
	}{
		"hostname and subdomain": {
			func(s *corev1.PodSpec) { s.Hostname, s.Subdomain, s.HostAliases = "db-0", "db", aliases },
			func(p *corev1.Pod) []string {
				return []string{"hostname db-0", p.Status.PodIP + "\tdb-0.db." + p.Namespace + ".svc.cluster.local\tdb-0", "10.1.2.3\tfoo.local\tbar.local"}
			},
		},
		"another name": {
			func(s *corev1.PodSpec) { s.Hostname, s.HostnameOverride = "db-0", ptr.To("db.example.com") },
			func(p *corev1.Pod) []string {
				return []string{"hostname db.example.com", p.Status.PodIP + "\tdb.example.com"}
			},
		},
		"the host's network": {
			func(s *corev1.PodSpec) { s.HostNetwork, s.HostAliases = true, aliases },
			func(*corev1.Pod) []string {
				return []string{"# Entries added by HostAliases.", "10.1.2.3\tfoo.local\tbar.local"}
			},
		},
		"servers of its own": {
			func(s *corev1.PodSpec) {
				s.DNSPolicy, s.DNSConfig = corev1.DNSNone, &corev1.PodDNSConfig{Nameservers: []string{"192.0.2.1"},
					Searches: []string{"a.test", "b.test"}, Options: []corev1.PodDNSConfigOption{{Name: "ndots", Value: ptr.To("2")}, {Name: "edns0"}}}
			},
			func(*corev1.Pod) []string {
				return []string{"search a.test b.test", "nameserver 192.0.2.1", "options ndots:2 edns0"}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := shared(t)
			p := pod("p", shell("c", script))
			tt.change(&p.Spec)
			log := w.runToEnd(p)
			wantLines(t, log, tt.lines(w.get("p"))...)
		})
	}
}

func TestNameInFull(t *testing.T) {
	w := shared(t)
	short := pod("short", shell("c", `hostname`))
	short.Namespace, short.Spec.Subdomain, short.Spec.SetHostnameAsFQDN = w.ns, "s", ptr.To(true)
	fqdn := "short.s." + w.ns + ".svc.cluster.local"
	if len(fqdn) > 64 {
		t.Fatalf("%s is too long for this test", fqdn)
	}
	wantLines(t, w.runToEnd(short), fqdn)

	long := pod(strings.Repeat("long", 10), shell("c", "true"))
	long.Spec.Subdomain, long.Spec.SetHostnameAsFQDN = "s", ptr.To(true)
	w.create(long)
	w.waitEvent(long.Name, "is too long (64 characters is the max")
}
