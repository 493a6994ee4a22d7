// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"errors"
	"net/netip"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Nobody reaches a containerd whose socket was removed, and it makes no other.
func TestAdoptedContainerdWithoutItsSocketIsReplaced(t *testing.T) {
	n := newTestNode(t)
	stop := n.supervise(n.Runtime)
	n.prepareNetwork(netip.MustParsePrefix("10.251.10.0/24"))
	sandbox := n.runSandbox(n.sandboxConfig("before"))
	before := n.pid()
	stop()
	if err := os.Remove(n.socket()); err != nil {
		t.Fatal(err)
	}
	stop = n.supervise(n.Runtime)
	t.Cleanup(stop)
	if now := n.pid(); now == before {
		t.Error("containerd was not replaced")
	}
	if s := n.sandboxStatus(sandbox); s.GetState() != runtimeapi.PodSandboxState_SANDBOX_READY {
		t.Errorf("sandbox after the replacement: %v", s)
	}
}

// Someone removes the directories of a running node. A new containerd gets them, and
// the images, again.
func TestDirectoriesAndImagesAreMadeAgain(t *testing.T) {
	n := newTestNode(t)
	stop := n.supervise(n.Runtime)
	t.Cleanup(stop)
	podCIDR := netip.MustParsePrefix("10.251.11.0/24")
	n.prepareNetwork(podCIDR)
	before := n.pid()
	if err := errors.Join(os.RemoveAll(n.cfg.Dir), os.WriteFile(n.cfg.Dir, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	_ = unix.Kill(before, unix.SIGKILL) // unless it has ended of this already
	n.waitUntil("an error that containerd cannot start", func() bool {
		err := n.Healthy()
		return err != nil && strings.Contains(err.Error(), "not a directory")
	})
	if err := os.Remove(n.cfg.Dir); err != nil {
		t.Fatal(err)
	}
	n.waitUntil("a new containerd", func() bool {
		p, err := n.recorded()
		return err == nil && p.PID != before && p.alive()
	})
	n.ready()
	if err := n.WriteNetwork(t.Context(), podCIDR); err != nil {
		t.Fatal(err)
	}
	n.waitUntil("network ready", n.networkReady)
	n.waitUntil("the pause image", func() bool {
		reply, err := runtimeapi.NewImageServiceClient(n.conn).ImageStatus(t.Context(),
			&runtimeapi.ImageStatusRequest{Image: &runtimeapi.ImageSpec{Image: PauseImage}})
		return err == nil && reply.GetImage() != nil
	})
	n.removeSandbox(n.runSandbox(n.sandboxConfig("after")))
	if err := n.Healthy(); err != nil {
		t.Error(err)
	}
}

func TestHealthyUnlessContainerdIsAway(t *testing.T) {
	r := &Runtime{}
	if err := r.Healthy(); err != nil {
		t.Error(err)
	}
	r.setTrouble(errors.New("no such file"))
	if err := r.Healthy(); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("Healthy = %v", err)
	}
	r.setTrouble(nil)
	if err := r.Healthy(); err != nil {
		t.Error(err)
	}
}
