// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"fmt"
	"os"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/utils/ptr"
)

// What the resolvers of usual C libraries take.
const (
	maxNameservers   = 3
	maxSearches      = 32
	maxSearchesChars = 2048
)

// dnsConfig returns the resolver settings of a pod, and what of them is left out for
// being too much. There is no cluster DNS, so the policies that ask for it mean the
// node's settings, as Default does.
func (r *Runtime) dnsConfig(pod *corev1.Pod) (dns *runtimeapi.DNSConfig, warnings []string, err error) {
	dns = &runtimeapi.DNSConfig{}
	if pod.Spec.DNSPolicy != corev1.DNSNone {
		content, err := os.ReadFile(r.cfg.ResolvConf)
		if err != nil {
			return nil, nil, fmt.Errorf("DNS settings of the node: %w", err)
		}
		dns = parseResolvConf(string(content))
	}
	if c := pod.Spec.DNSConfig; c != nil {
		dns.Servers = distinct(append(dns.Servers, c.Nameservers...))
		dns.Searches = distinct(append(dns.Searches, c.Searches...))
		dns.Options = mergeDNSOptions(dns.Options, c.Options)
	}
	return dns, limitDNS(dns), nil
}

// distinct leaves out what was said before.
func distinct(all []string) []string {
	var out []string
	for _, s := range all {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// mergeDNSOptions adds the pod's options, which take the place of the node's of the
// same name.
func mergeDNSOptions(options []string, own []corev1.PodDNSConfigOption) []string {
	merged := slices.Clone(options)
	for _, o := range own {
		text := o.Name
		if value := ptr.Deref(o.Value, ""); value != "" {
			text += ":" + value
		}
		named := func(option string) bool {
			name, _, _ := strings.Cut(option, ":")
			return name == o.Name
		}
		if at := slices.IndexFunc(merged, named); at >= 0 {
			merged[at] = text
		} else {
			merged = append(merged, text)
		}
	}
	return merged
}

// limitDNS cuts the settings to what resolvers take, and says what it cut.
func limitDNS(dns *runtimeapi.DNSConfig) (warnings []string) {
	if len(dns.Servers) > maxNameservers {
		dns.Servers = dns.Servers[:maxNameservers]
		warnings = append(warnings, "Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: "+
			strings.Join(dns.Servers, " "))
	}
	if fit := fittingSearches(dns.Searches); fit < len(dns.Searches) {
		dns.Searches = dns.Searches[:fit]
		warnings = append(warnings, "Search Line limits were exceeded, some search paths have been omitted, the applied search line is: "+
			strings.Join(dns.Searches, " "))
	}
	return warnings
}

// fittingSearches is how many of the search paths there is room for in one line.
func fittingSearches(searches []string) int {
	length := 0
	for i, s := range searches {
		if length += len(s); i == maxSearches || length > maxSearchesChars {
			return i
		}
		length += len(" ")
	}
	return len(searches)
}
