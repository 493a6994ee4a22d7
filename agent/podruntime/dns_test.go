// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/utils/ptr"
)

func TestDNSConfig(t *testing.T) {
	h := newHarness(t)
	h.cfg.ResolvConf = filepath.Join(h.dir, "resolv.conf")
	write(t, h.cfg.ResolvConf, "nameserver 192.0.2.53\nnameserver 192.0.2.54\nsearch a.test\noptions ndots:1 timeout:3 edns0\n")
	node := &runtimeapi.DNSConfig{Servers: []string{"192.0.2.53", "192.0.2.54"}, Searches: []string{"a.test"}, Options: []string{"ndots:1", "timeout:3", "edns0"}}
	own := &corev1.PodDNSConfig{
		Nameservers: []string{"192.0.2.54", "192.0.2.1"}, Searches: []string{"b.test", "a.test"},
		Options: []corev1.PodDNSConfigOption{{Name: "ndots", Value: ptr.To("5")}, {Name: "rotate"}, {Name: "edns0", Value: ptr.To("")}},
	}
	for name, tt := range map[string]struct {
		policy   corev1.DNSPolicy
		config   *corev1.PodDNSConfig
		want     *runtimeapi.DNSConfig
		warnings int
	}{
		"Default":                 {corev1.DNSDefault, nil, node, 0},
		"ClusterFirst":            {corev1.DNSClusterFirst, nil, node, 0},
		"ClusterFirstWithHostNet": {corev1.DNSClusterFirstWithHostNet, nil, node, 0},
		"None": {corev1.DNSNone, own, &runtimeapi.DNSConfig{
			Servers: []string{"192.0.2.54", "192.0.2.1"}, Searches: []string{"b.test", "a.test"}, Options: []string{"ndots:5", "rotate", "edns0"}}, 0},
		"merged": {corev1.DNSClusterFirst, own, &runtimeapi.DNSConfig{
			Servers: []string{"192.0.2.53", "192.0.2.54", "192.0.2.1"}, Searches: []string{"a.test", "b.test"},
			Options: []string{"ndots:5", "timeout:3", "edns0", "rotate"}}, 0},
		"too many": {corev1.DNSDefault, &corev1.PodDNSConfig{Nameservers: []string{"192.0.2.1", "192.0.2.2"}}, &runtimeapi.DNSConfig{
			Servers: []string{"192.0.2.53", "192.0.2.54", "192.0.2.1"}, Searches: node.Searches, Options: node.Options}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			pod := testPod()
			pod.Spec.DNSPolicy, pod.Spec.DNSConfig = tt.policy, tt.config
			got, warnings, err := h.dnsConfig(pod)
			if err != nil || len(warnings) != tt.warnings {
				t.Errorf("warnings %q, %v", warnings, err)
			}
			if diff := cmp.Diff(tt.want, got, protocmp.Transform()); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLimitDNS(t *testing.T) {
	var many []string
	for i := range maxSearches + 1 {
		many = append(many, strconv.Itoa(i)+".test")
	}
	long := strings.Repeat("a", maxSearchesChars/2)
	for name, tt := range map[string]struct {
		searches []string
		keep     int
	}{
		"as many as fit":    {many[:maxSearches], maxSearches},
		"one too many":      {many, maxSearches},
		"as long as fits":   {[]string{long, long[1:]}, 2},
		"one byte too long": {[]string{long, long}, 1},
	} {
		dns := &runtimeapi.DNSConfig{Searches: tt.searches}
		warnings := limitDNS(dns)
		if len(dns.Searches) != tt.keep || (len(warnings) > 0) != (tt.keep < len(tt.searches)) {
			t.Errorf("%s: %d are kept, warnings %q", name, len(dns.Searches), warnings)
		}
	}
}

// What was left out is told once per sandbox, not with each container.
func TestDNSConfigForming(t *testing.T) {
	h := newHarness(t)
	pod := testPod("a", "b")
	pod.Spec.DNSPolicy = corev1.DNSNone
	pod.Spec.DNSConfig = &corev1.PodDNSConfig{Nameservers: []string{"::1", "::2", "::3", "::4"}}
	h.mustSync(t, pod)
	want := []string{"Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: ::1 ::2 ::3"}
	if diff := cmp.Diff(want, h.events.messages["DNSConfigForming"]); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
