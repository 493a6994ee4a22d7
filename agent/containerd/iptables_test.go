// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const listing = `-P PREROUTING ACCEPT
-P POSTROUTING ACCEPT
-N CNI-HOSTPORT-DNAT
-N CNI-DN-aaaa
-N CNI-DN-bbbb
-N CNI-DN-cccc
-A POSTROUTING -s 10.1.0.0/24 ! -d 10.1.0.0/24 -m comment --comment berth-01234567 -j MASQUERADE
-A POSTROUTING -s 10.2.0.0/24 ! -d 10.2.0.0/24 -m comment --comment berth-012345678 -j MASQUERADE
-A CNI-HOSTPORT-DNAT -p tcp -m comment --comment "dnat name: \"other\" id: \"1\"" -m multiport --dports 80 -j CNI-DN-aaaa
-A CNI-HOSTPORT-DNAT -p tcp -m comment --comment "dnat name: \"berth-01234567\" id: \"2\"" -m multiport --dports 81 -j CNI-DN-bbbb
-A CNI-HOSTPORT-DNAT -p tcp -m comment --comment "dnat name: \"berth-01234567\" id: \"3\"" -m multiport --dports 82 -j CNI-DN-cccc
-A CNI-DN-bbbb -p tcp -m tcp --dport 81 -j DNAT --to-destination 10.1.0.2:80
`

func commands(list [][]string) []string {
	var lines []string
	for _, args := range list {
		lines = append(lines, strings.Join(args, " "))
	}
	return lines
}

func TestPlanRules(t *testing.T) {
	node := &Runtime{cfg: Config{NodeID: "01234567"}}
	clustered := &Runtime{cfg: Config{NodeID: "01234567", ClusterCIDR: netip.MustParsePrefix("10.0.0.0/8")}}
	same, moved := netip.MustParsePrefix("10.1.0.0/24"), netip.MustParsePrefix("10.3.0.0/24")
	const drop = "-P FORWARD DROP\n-A FORWARD -j REJECT\n"
	for name, test := range map[string]struct {
		node        *Runtime
		podCIDR     netip.Prefix
		nat, filter string
		want        []string
	}{
		"first time": {node, same, "", "-P FORWARD ACCEPT\n", []string{
			"-t nat -A POSTROUTING -s 10.1.0.0/24 ! -d 10.1.0.0/24 -m comment --comment berth-01234567 -j MASQUERADE",
		}},
		"as it is": {node, same, listing, "-P FORWARD ACCEPT\n", nil},
		"another range": {node, moved, listing, "", []string{
			"-t nat -D POSTROUTING -s 10.1.0.0/24 ! -d 10.1.0.0/24 -m comment --comment berth-01234567 -j MASQUERADE",
			"-t nat -A POSTROUTING -s 10.3.0.0/24 ! -d 10.3.0.0/24 -m comment --comment berth-01234567 -j MASQUERADE",
		}},
		"other nodes keep the pod's address": {clustered, moved, "", "", []string{
			"-t nat -A POSTROUTING -s 10.3.0.0/24 ! -d 10.0.0.0/8 -m comment --comment berth-01234567 -j MASQUERADE",
		}},
		"forwarding is forbidden": {node, same, listing, drop, []string{
			"-t filter -I FORWARD -i br-01234567 -m comment --comment berth-01234567 -j ACCEPT",
			"-t filter -I FORWARD -o br-01234567 -m comment --comment berth-01234567 -j ACCEPT",
		}},
		"forwarding is allowed again": {node, same, listing,
			"-P FORWARD ACCEPT\n-A FORWARD -i br-01234567 -m comment --comment berth-01234567 -j ACCEPT\n", []string{
				"-t filter -D FORWARD -i br-01234567 -m comment --comment berth-01234567 -j ACCEPT",
			}},
	} {
		t.Run(name, func(t *testing.T) {
			current := append(parseRules("nat", test.nat), parseRules("filter", test.filter)...)
			got := planRules(ownRules(current, test.node.name()), test.node.wantedRules(test.podCIDR, current))
			if diff := cmp.Diff(test.want, commands(got)); diff != "" {
				t.Errorf("commands (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHostPortLeftoversAreOnlyOurs(t *testing.T) {
	want := []string{
		"-t nat -D CNI-HOSTPORT-DNAT 2", "-t nat -F CNI-DN-bbbb", "-t nat -X CNI-DN-bbbb",
		"-t nat -D CNI-HOSTPORT-DNAT 2", "-t nat -F CNI-DN-cccc", "-t nat -X CNI-DN-cccc",
	}
	got := hostPortLeftovers(parseRules("nat", listing), "berth-01234567")
	if diff := cmp.Diff(want, commands(got)); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}
