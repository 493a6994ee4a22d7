// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"errors"
	"fmt"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
)

// hostEnd is where the interface of an address leads to on the host.
type hostEnd int

const (
	// elsewhere: it is no virtual Ethernet pair, or its other end is not here.
	elsewhere hostEnd = iota
	onBridge
	onNoBridge
)

// namespaceAddresses are the addresses of all interfaces in a network namespace.
func namespaceAddresses(path string) (map[string]hostEnd, error) {
	ns, err := netns.GetFromPath(path)
	if err != nil {
		return nil, fmt.Errorf("network namespace %s: %w", path, err)
	}
	defer ns.Close()
	handle, err := netlink.NewHandleAt(ns)
	if err != nil {
		return nil, fmt.Errorf("network namespace %s: %w", path, err)
	}
	defer handle.Close()
	list, err := handle.AddrList(nil, netlink.FAMILY_ALL)
	if err != nil {
		return nil, fmt.Errorf("addresses in network namespace %s: %w", path, err)
	}
	found := map[string]hostEnd{}
	for _, a := range list {
		if found[a.IP.String()], err = findHostEnd(handle, a.LinkIndex); err != nil {
			return nil, fmt.Errorf("interface of %s in network namespace %s: %w", a.IP, path, err)
		}
	}
	return found, nil
}

// findHostEnd follows an interface to the host. Each end of a pair names the other's
// index; indexes of other network namespaces mean other interfaces here.
func findHostEnd(inside *netlink.Handle, index int) (hostEnd, error) {
	link, err := inside.LinkByIndex(index)
	if err != nil || link.Type() != "veth" {
		return elsewhere, err
	}
	end, err := netlink.LinkByIndex(link.Attrs().ParentIndex)
	switch {
	case errors.As(err, &netlink.LinkNotFoundError{}):
		return elsewhere, nil
	case err != nil:
		return elsewhere, err
	case end.Type() != "veth" || end.Attrs().ParentIndex != index:
		return elsewhere, nil
	case end.Attrs().MasterIndex == 0:
		return onNoBridge, nil
	}
	return onBridge, nil
}
