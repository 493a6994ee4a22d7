// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// ofSpec is a change of the pod's spec alone.
func ofSpec(do func(*corev1.PodSpec)) change {
	return func(p *corev1.Pod, _ *corev1.Container) { do(&p.Spec) }
}

func dns(policy corev1.DNSPolicy, config *corev1.PodDNSConfig) change {
	return ofSpec(func(s *corev1.PodSpec) { s.DNSPolicy, s.DNSConfig = policy, config })
}

func TestNamesAndNamespacesThatAreAccepted(t *testing.T) {
	testAccepted(t, map[string]change{
		"names": ofSpec(func(s *corev1.PodSpec) {
			s.Hostname, s.Subdomain, s.SetHostnameAsFQDN = "db-0", "db", ptr.To(true)
			s.HostAliases = []corev1.HostAlias{{IP: "10.0.0.1", Hostnames: []string{"a", "b.example.com"}}, {IP: "fd00::1"}}
		}),
		"another name":       ofSpec(func(s *corev1.PodSpec) { s.HostnameOverride = ptr.To("db.example.com") }),
		"no other name":      ofSpec(func(s *corev1.PodSpec) { s.HostnameOverride = ptr.To("") }),
		"the host's":         ofSpec(func(s *corev1.PodSpec) { s.HostPID, s.HostIPC = true, true }),
		"processes":          ofSpec(func(s *corev1.PodSpec) { s.ShareProcessNamespace = ptr.To(true) }),
		"users":              ofSpec(func(s *corev1.PodSpec) { s.HostUsers = ptr.To(false) }),
		"the node's servers": dns(corev1.DNSDefault, nil),
		"servers of its own": dns(corev1.DNSNone, &corev1.PodDNSConfig{Nameservers: []string{"10.0.0.1", "fd00::1"}}),
		"more than that": dns(corev1.DNSClusterFirstWithHostNet, &corev1.PodDNSConfig{
			Searches: []string{".", "a.b.", "_x.c"}, Options: []corev1.PodDNSConfigOption{{Name: "ndots", Value: ptr.To("2")}, {Name: "edns0"}}}),
	})
}

func TestNamesAndNamespacesThatAreRefused(t *testing.T) {
	own := func(do func(*corev1.PodSpec)) change {
		return ofSpec(func(s *corev1.PodSpec) {
			s.HostUsers, s.Containers[0].Ports = ptr.To(false), nil
			do(s)
		})
	}
	many := strings.Split(strings.Repeat("a ", 33), " ")[:33]
	long := []string{strings.Repeat(strings.Repeat("a", 60)+".", 4) + "a", strings.Repeat("b", 60)}
	for len(strings.Join(long, " ")) <= 2048 {
		long = append(long, long[0])
	}
	testRefused(t, map[string]refused{
		"hostname":     {ofSpec(func(s *corev1.PodSpec) { s.Hostname = "a.b" }), "spec.hostname", "must not contain dots"},
		"subdomain":    {ofSpec(func(s *corev1.PodSpec) { s.Subdomain = "A" }), "spec.subdomain", "a lowercase RFC 1123 label"},
		"another name": {ofSpec(func(s *corev1.PodSpec) { s.HostnameOverride = ptr.To("A") }), "spec.hostnameOverride", "a lowercase RFC 1123 subdomain"},
		"long name":    {ofSpec(func(s *corev1.PodSpec) { s.HostnameOverride = ptr.To(strings.Repeat("a", 65)) }), "spec.hostnameOverride", "64"},
		"name in full": {ofSpec(func(s *corev1.PodSpec) { s.HostnameOverride, s.SetHostnameAsFQDN = ptr.To("a"), ptr.To(true) }), "spec.setHostnameAsFQDN", "`hostnameOverride`"},
		"name of nodes": {ofSpec(func(s *corev1.PodSpec) {
			s.HostnameOverride, s.HostNetwork, s.Containers[0].Ports = ptr.To("a"), true, nil
		}), "spec.hostnameOverride", "`hostNetwork`"},
		"alias": {ofSpec(func(s *corev1.PodSpec) { s.HostAliases = []corev1.HostAlias{{IP: "x"}} }), "spec.hostAliases[0].ip", "must be a valid IP address"},
		"alias name": {ofSpec(func(s *corev1.PodSpec) {
			s.HostAliases = []corev1.HostAlias{{IP: "::1", Hostnames: []string{"a", "B"}}}
		}), "spec.hostAliases[0].hostnames[1]", "a lowercase RFC 1123 subdomain"},

		"processes":        {ofSpec(func(s *corev1.PodSpec) { s.HostPID, s.ShareProcessNamespace = true, ptr.To(true) }), "spec.shareProcessNamespace", "ShareProcessNamespace and HostPID cannot both be enabled"},
		"users, PIDs":      {own(func(s *corev1.PodSpec) { s.HostPID = true }), "spec.hostPID", "when `hostUsers` is false"},
		"users, IPC":       {own(func(s *corev1.PodSpec) { s.HostIPC = true }), "spec.hostIPC", "when `hostUsers` is false"},
		"users, network":   {own(func(s *corev1.PodSpec) { s.HostNetwork = true }), "spec.hostNetwork", "when `hostUsers` is false"},
		"operating system": {ofSpec(func(s *corev1.PodSpec) { s.OS = &corev1.PodOS{Name: corev1.Windows} }), "spec.os.name", "berth runs Linux pods only"},

		"policy":         {dns("Some", nil), "spec.dnsPolicy", "Unsupported value"},
		"no config":      {dns(corev1.DNSNone, nil), "spec.dnsConfig", "must provide `dnsConfig` when `dnsPolicy` is None"},
		"no servers":     {dns(corev1.DNSNone, &corev1.PodDNSConfig{}), "spec.dnsConfig.nameservers", "must provide at least one DNS nameserver when `dnsPolicy` is None"},
		"many servers":   {dns(corev1.DNSDefault, &corev1.PodDNSConfig{Nameservers: []string{"::1", "::2", "::3", "::4"}}), "spec.dnsConfig.nameservers", "must not have more than 3 nameservers"},
		"server":         {dns(corev1.DNSDefault, &corev1.PodDNSConfig{Nameservers: []string{"dns"}}), "spec.dnsConfig.nameservers[0]", "must be a valid IP address"},
		"many searches":  {dns(corev1.DNSDefault, &corev1.PodDNSConfig{Searches: many}), "spec.dnsConfig.searches", "must not have more than 32 search paths"},
		"long searches":  {dns(corev1.DNSDefault, &corev1.PodDNSConfig{Searches: long}), "spec.dnsConfig.searches", "must not have more than 2048 characters"},
		"search":         {dns(corev1.DNSDefault, &corev1.PodDNSConfig{Searches: []string{"a b"}}), "spec.dnsConfig.searches[0]", "RFC 1123"},
		"option no name": {dns(corev1.DNSDefault, &corev1.PodDNSConfig{Options: []corev1.PodDNSConfigOption{{}}}), "spec.dnsConfig.options[0]", "must not be empty"},
	})
}
