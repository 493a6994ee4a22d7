// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/api"
)

func checkRanges(cluster netip.Prefix, bits int) error {
	if !cluster.Addr().Is4() {
		return fmt.Errorf("cluster range %s is not an IPv4 range", cluster)
	}
	if bits < cluster.Bits() || bits > 30 {
		return fmt.Errorf("a node's pod range of /%d does not fit: it must be between the /%d of cluster range %s and /30",
			bits, cluster.Bits(), cluster)
	}
	return nil
}

// rangesOf returns the pod ranges that the nodes have.
func rangesOf(nodes []api.Object) []netip.Prefix {
	var used []netip.Prefix
	for _, obj := range nodes {
		spec := &obj.(*corev1.Node).Spec
		for _, text := range append([]string{spec.PodCIDR}, spec.PodCIDRs...) {
			if p, err := netip.ParsePrefix(text); err == nil {
				used = append(used, p.Masked())
			}
		}
	}
	return used
}

func hasRange(nodes []api.Object, name string) bool {
	return slices.ContainsFunc(nodes, func(obj api.Object) bool {
		return obj.GetName() == name && obj.(*corev1.Node).Spec.PodCIDR != ""
	})
}

// freeRange returns a range of that prefix length in the cluster range that
// overlaps none of those in use, which may be of other lengths: the wanted one if
// it is such a range, or else the first.
func freeRange(cluster netip.Prefix, bits int, used []netip.Prefix, wanted string) (netip.Prefix, error) {
	taken := map[netip.Prefix]bool{}
	var larger []netip.Prefix
	for _, p := range used {
		if p.Bits() < bits {
			larger = append(larger, p)
			continue
		}
		if p, err := p.Addr().Prefix(bits); err == nil {
			taken[p] = true
		}
	}
	free := func(p netip.Prefix) bool { return !taken[p] && !slices.ContainsFunc(larger, p.Overlaps) }
	if p, err := netip.ParsePrefix(wanted); err == nil && isRange(cluster, bits, p) && free(p) {
		return p, nil
	}
	for i := range uint32(1) << (bits - cluster.Bits()) {
		if p := nth(cluster, bits, i); free(p) {
			return p, nil
		}
	}
	return netip.Prefix{}, fmt.Errorf("cluster range %s has no free /%d for its pods", cluster, bits)
}

// isRange tells whether p is one of the ranges that nodes get.
func isRange(cluster netip.Prefix, bits int, p netip.Prefix) bool {
	return p.Bits() == bits && p == p.Masked() && cluster.Contains(p.Addr())
}

// nth returns the i-th range of that prefix length in the cluster range.
func nth(cluster netip.Prefix, bits int, i uint32) netip.Prefix {
	base := cluster.Masked().Addr().As4()
	var addr [4]byte
	binary.BigEndian.PutUint32(addr[:], binary.BigEndian.Uint32(base[:])+i<<(32-bits))
	return netip.PrefixFrom(netip.AddrFrom4(addr), bits)
}
