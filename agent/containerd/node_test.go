// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"net/netip"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func TestNodeRuntime(t *testing.T) {
	n := newTestNode(t)
	stop := n.supervise(n.Runtime)
	ctx := t.Context()
	podCIDR := netip.MustParsePrefix("10.251.7.0/24")
	n.prepareNetwork(podCIDR)
	sandbox := n.runSandbox(n.sandboxConfig("first", &runtimeapi.PortMapping{
		Protocol: runtimeapi.Protocol_TCP, ContainerPort: 80, HostPort: 31999,
	}))
	address := n.sandboxStatus(sandbox).GetNetwork().GetIp()
	if ip, err := netip.ParseAddr(address); err != nil || !podCIDR.Contains(ip) {
		t.Errorf("sandbox has the address %q, want one of %s", address, podCIDR)
	}

	t.Run("killed containerd comes back and the sandbox has not noticed", func(t *testing.T) {
		before := n.pid()
		if err := unix.Kill(before, unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		n.waitUntil("a new containerd", func() bool {
			p, err := n.recorded()
			return err == nil && p.PID != before && p.alive()
		})
		n.ready()
		s := n.sandboxStatus(sandbox)
		if s.GetState() != runtimeapi.PodSandboxState_SANDBOX_READY || s.GetNetwork().GetIp() != address {
			t.Errorf("sandbox after the restart: %v", s)
		}
	})

	t.Run("a second supervisor is refused while the first runs", func(t *testing.T) {
		if err := n.Run(ctx); err == nil || !strings.Contains(err.Error(), "another agent runs node") {
			t.Errorf("Run = %v", err)
		}
	})

	t.Run("the next supervisor adopts containerd", func(t *testing.T) {
		before := n.pid()
		stop()
		second, err := New(n.cfg)
		if err != nil {
			t.Fatal(err)
		}
		stop = n.supervise(second)
		if now := n.pid(); now != before {
			t.Errorf("containerd is process %d, was %d", now, before)
		}
		if err := n.ImportImages(ctx); err != nil {
			t.Errorf("import again: %v", err)
		}
		if s := n.sandboxStatus(sandbox); s.GetState() != runtimeapi.PodSandboxState_SANDBOX_READY {
			t.Errorf("sandbox after adoption: %v", s)
		}
	})

	t.Run("a containerd that no record names is adopted all the same", func(t *testing.T) {
		before := n.pid()
		stop()
		if err := os.Remove(n.recordFile()); err != nil {
			t.Fatal(err)
		}
		stop = n.supervise(n.Runtime)
		n.waitUntil("a record", func() bool { _, err := n.recorded(); return err == nil })
		if now := n.pid(); now != before {
			t.Errorf("containerd is process %d, was %d", now, before)
		}
	})

	t.Run("a new configuration replaces containerd and not its pods", func(t *testing.T) {
		before := n.pid()
		stop()
		if err := os.WriteFile(n.configFile(), []byte("# of an older version\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		stop = n.supervise(n.Runtime)
		n.waitUntil("a new containerd", func() bool {
			p, err := n.recorded()
			return err == nil && p.PID != before && p.alive()
		})
		n.ready()
		if s := n.sandboxStatus(sandbox); s.GetState() != runtimeapi.PodSandboxState_SANDBOX_READY {
			t.Errorf("sandbox after the replacement: %v", s)
		}
	})

	t.Run("nobody ends a supervised containerd", func(t *testing.T) {
		if err := n.Teardown(ctx); err == nil || !strings.Contains(err.Error(), "another agent runs node") {
			t.Errorf("Teardown = %v", err)
		}
		if s := n.sandboxStatus(sandbox); s.GetState() != runtimeapi.PodSandboxState_SANDBOX_READY {
			t.Errorf("sandbox: %v", s)
		}
	})

	t.Run("stop ends containerd and not its pods", func(t *testing.T) {
		stop()
		if err := n.Stop(ctx); err != nil {
			t.Fatal(err)
		}
		if p, err := n.recorded(); err != nil || p.alive() {
			t.Errorf("containerd runs: %v, %v", p, err)
		}
		if pods := n.podProcesses(listProcesses(), cgroupMembers(n.CgroupRoot())); len(pods) < 2 {
			t.Errorf("pods' processes are %v, want a shim and pause", pods)
		}
	})

	t.Run("teardown leaves nothing", func(t *testing.T) {
		if err := n.Teardown(ctx); err != nil {
			t.Fatal(err)
		}
		for _, left := range n.leftovers() {
			t.Errorf("left behind: %s", left)
		}
	})
}
