// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import "net/netip"

// conflist is a CNI network configuration list; see the CNI specification 1.0.0.
type conflist struct {
	CNIVersion string `json:"cniVersion"`
	Name       string `json:"name"`
	Plugins    []any  `json:"plugins"`
}

type bridgePlugin struct {
	Type             string    `json:"type"`
	Bridge           string    `json:"bridge"`
	IsDefaultGateway bool      `json:"isDefaultGateway"`
	HairpinMode      bool      `json:"hairpinMode"`
	IPMasq           bool      `json:"ipMasq"`
	IPAM             hostLocal `json:"ipam"`
}

type hostLocal struct {
	Type    string      `json:"type"`
	DataDir string      `json:"dataDir"`
	Ranges  [][]ipRange `json:"ranges"`
}

type ipRange struct {
	Subnet netip.Prefix `json:"subnet"`
}

type portmapPlugin struct {
	Type string `json:"type"`
	// Backend spares the plugin two runs of iptables to find it out, for every pod.
	Backend      string          `json:"backend"`
	Capabilities map[string]bool `json:"capabilities"`
}

// network is the node's CNI network. The bridge holds the first address of the range
// and is the pods' default gateway; in hairpin mode a pod reaches itself through a
// host port. Masquerading is one rule for the range (see ensureRules), not the
// plugin's chain per pod.
func (r *Runtime) network(podCIDR netip.Prefix) conflist {
	return conflist{
		CNIVersion: "1.0.0",
		Name:       r.name(),
		Plugins: []any{
			bridgePlugin{
				Type:             "bridge",
				Bridge:           r.bridge(),
				IsDefaultGateway: true,
				HairpinMode:      true,
				IPAM: hostLocal{
					Type:    "host-local",
					DataDir: r.ipamDir(),
					Ranges:  [][]ipRange{{{Subnet: podCIDR}}},
				},
			},
			portmapPlugin{
				Type:         "portmap",
				Backend:      "iptables",
				Capabilities: map[string]bool{"portMappings": true},
			},
		},
	}
}
