// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"net/netip"
	"os"
	"testing"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// After a reboot processes, mounts and RunDir are gone, and Dir still names the
// sandboxes. They must be there to be removed, and new ones must start.
func TestReboot(t *testing.T) {
	n := newTestNode(t)
	stop := n.supervise(n.Runtime)
	podCIDR := netip.MustParsePrefix("10.251.9.0/24")
	n.prepareNetwork(podCIDR)
	before := n.runSandbox(n.sandboxConfig("before"))
	stop()
	if err := n.Teardown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(n.cfg.RunDir); !os.IsNotExist(err) {
		t.Fatalf("RunDir is still there: %v", err)
	}

	stop = n.supervise(n.Runtime)
	t.Cleanup(stop)
	n.prepareNetwork(podCIDR)
	if s := n.sandboxStatus(before); s.GetState() != runtimeapi.PodSandboxState_SANDBOX_NOTREADY {
		t.Errorf("sandbox of before the reboot: %v", s)
	}
	n.removeSandbox(before)
	after := n.runSandbox(n.sandboxConfig("after"))
	if s := n.sandboxStatus(after); s.GetState() != runtimeapi.PodSandboxState_SANDBOX_READY {
		t.Errorf("sandbox of after the reboot: %v", s)
	}
}
