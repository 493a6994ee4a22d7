// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"github.com/vishvananda/netlink"
)

// cniCache is where libcni keeps the results of all networks of the machine.
const cniCache = "/var/lib/cni/results"

// WriteNetwork makes podCIDR, an IPv4 range, the network of pods to come: a CNI
// configuration, one masquerade rule for the whole range, and forwarding. What is
// right already is left alone.
func (r *Runtime) WriteNetwork(ctx context.Context, podCIDR netip.Prefix) error {
	if !podCIDR.IsValid() || !podCIDR.Addr().Is4() {
		return fmt.Errorf("pod range %s: must be an IPv4 prefix", podCIDR)
	}
	podCIDR = podCIDR.Masked()
	if err := r.ensureRules(ctx, podCIDR); err != nil {
		return err
	}
	if err := enableForwarding("/proc/sys/net/ipv4/ip_forward"); err != nil {
		return err
	}
	text, err := json.MarshalIndent(r.network(podCIDR), "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(r.networkDir(), 0o755); err != nil {
		return err
	}
	_, err = writeIfChanged(r.networkFile(), append(text, '\n'))
	return err
}

func (r *Runtime) networkFile() string {
	return filepath.Join(r.networkDir(), r.name()+".conflist")
}

// RemoveNetwork removes the bridge, the rules and every trace of addresses. Pods that
// still run lose their network.
func (r *Runtime) RemoveNetwork(ctx context.Context) error {
	errs := []error{r.removeRules(ctx), removeLink(r.bridge())}
	for _, path := range []string{r.networkFile(), r.ipamDir()} {
		errs = append(errs, os.RemoveAll(path))
	}
	cached, _ := filepath.Glob(filepath.Join(cniCache, r.name()+"-*"))
	for _, path := range cached {
		errs = append(errs, os.Remove(path))
	}
	return errors.Join(errs...)
}

// releaseNetwork gives back what the CNI plugins hold for one sandbox outside of its
// network namespace: its address, and its host ports, so that they lead to a pod again
// that has them.
func (r *Runtime) releaseNetwork(ctx context.Context, sandbox string) error {
	leases, _ := filepath.Glob(filepath.Join(r.ipamDir(), r.name(), "[0-9]*"))
	paths, _ := filepath.Glob(filepath.Join(cniCache, r.name()+"-"+sandbox+"-*"))
	for _, lease := range leases {
		// host-local writes the id, and the interface in another line.
		if text, err := os.ReadFile(lease); err == nil && strings.HasPrefix(string(text), sandbox) {
			paths = append(paths, lease)
		}
	}
	var errs []error
	for _, path := range paths {
		errs = append(errs, os.Remove(path))
	}
	return errors.Join(append(errs, r.closeHostPorts(ctx, sandbox))...)
}

func removeLink(name string) error {
	link, err := netlink.LinkByName(name)
	if errors.As(err, &netlink.LinkNotFoundError{}) {
		return nil
	}
	if err == nil {
		err = netlink.LinkDel(link)
	}
	if err != nil {
		return fmt.Errorf("remove bridge %s: %w", name, err)
	}
	return nil
}

func enableForwarding(file string) error {
	now, err := os.ReadFile(file)
	if err == nil && strings.TrimSpace(string(now)) == "1" {
		return nil
	}
	if err := os.WriteFile(file, []byte("1"), 0o644); err != nil {
		return fmt.Errorf("enable IPv4 forwarding: %w", err)
	}
	return nil
}
