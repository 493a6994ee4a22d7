// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"net/netip"
	"os"
	"slices"
	"strings"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

const (
	etcResolvConf = "/etc/resolv.conf"
	// systemdResolvConf names the servers that systemd's resolver asks, where
	// /etc/resolv.conf names that resolver itself.
	systemdResolvConf = "/run/systemd/resolve/resolv.conf"
)

// nodeResolvConf returns the file with the DNS servers of the node that a pod can
// reach from a network of its own: a server on the loopback is none.
func nodeResolvConf() string {
	content, err := os.ReadFile(etcResolvConf)
	if err != nil {
		return etcResolvConf
	}
	servers := parseResolvConf(string(content)).GetServers()
	reachable := func(server string) bool {
		ip, err := netip.ParseAddr(server)
		return err == nil && !ip.IsLoopback()
	}
	if len(servers) == 0 || slices.ContainsFunc(servers, reachable) {
		return etcResolvConf
	}
	if _, err := os.Stat(systemdResolvConf); err != nil {
		return etcResolvConf
	}
	return systemdResolvConf
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
