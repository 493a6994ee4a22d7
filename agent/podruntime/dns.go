// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"fmt"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// dnsConfig returns the resolver settings of a pod: those of the node. There is no
// cluster DNS, so ClusterFirst means Default.
func (r *Runtime) dnsConfig(*corev1.Pod) (*runtimeapi.DNSConfig, error) {
	content, err := os.ReadFile(r.cfg.ResolvConf)
	if err != nil {
		return nil, fmt.Errorf("DNS settings of the node: %w", err)
	}
	return parseResolvConf(string(content)), nil
}

// parseResolvConf reads the keywords of resolv.conf(5) that a pod's own has. The
// last search line wins; options add up.
func parseResolvConf(content string) *runtimeapi.DNSConfig {
	dns := &runtimeapi.DNSConfig{}
	for line := range strings.Lines(content) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		switch fields[0] {
		case "nameserver":
			dns.Servers = append(dns.Servers, fields[1])
		case "search":
			dns.Searches = fields[1:]
		case "options":
			dns.Options = append(dns.Options, fields[1:]...)
		}
	}
	return dns
}
