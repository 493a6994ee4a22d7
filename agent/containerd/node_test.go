// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/moby/sys/mountinfo"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// binDir is where `make runtime` puts the node runtime.
const binDir = "../../bin/runtime"

// testNode is a node's own containerd under test.
type testNode struct {
	*Runtime
	t *testing.T
}

// newTestNode makes a node that leaves nothing behind. Without root or the node
// runtime the test is skipped, but fails where CI=true promises both.
func newTestNode(t *testing.T) *testNode {
	t.Helper()
	bin, err := filepath.Abs(binDir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(bin, "containerd")); err != nil || os.Geteuid() != 0 {
		if os.Getenv("CI") == "true" {
			t.Fatalf("needs root and the node runtime of `make runtime`: %v", err)
		}
		t.Skip("needs root and the node runtime of `make runtime`")
	}
	id := randomID(t)
	r, err := New(Config{
		Dir:      t.TempDir(),
		RunDir:   filepath.Join("/run/berth", id),
		BinDir:   bin,
		NodeID:   id,
		PauseTar: filepath.Join(bin, "pause.tar"),
		Logger:   slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	n := &testNode{Runtime: r, t: t}
	t.Cleanup(func() {
		if t.Failed() {
			log, _ := os.ReadFile(r.logFile())
			t.Logf("containerd:\n%s", log)
		}
		if err := r.Teardown(context.Background()); err != nil {
			t.Errorf("teardown: %v", err)
		}
	})
	return n
}

func randomID(t testing.TB) string {
	t.Helper()
	b := make([]byte, 4)
	if _, err := rand.Read(b); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(b)
}

// supervise runs a supervisor until the returned function is called, and waits until
// containerd serves.
func (n *testNode) supervise(r *Runtime) (stop func()) {
	n.t.Helper()
	ctx, cancel := context.WithCancel(n.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	n.ready()
	return func() {
		n.t.Helper()
		cancel()
		if err := <-ended; err != nil {
			n.t.Errorf("Run: %v", err)
		}
	}
}

func (n *testNode) ready() {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(n.t.Context(), 20*time.Second)
	defer cancel()
	if err := n.Ready(ctx); err != nil {
		n.t.Fatal(err)
	}
}

func (n *testNode) pid() int {
	n.t.Helper()
	p, err := n.recorded()
	if err != nil || !p.alive() {
		n.t.Fatalf("containerd does not run: %v", err)
	}
	return p.PID
}

func (n *testNode) cri() runtimeapi.RuntimeServiceClient {
	n.t.Helper()
	conn := n.conn()
	return runtimeapi.NewRuntimeServiceClient(conn)
}

func (n *testNode) conn() *grpc.ClientConn {
	n.t.Helper()
	conn, err := n.dial()
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() { conn.Close() })
	return conn
}

// sandboxConfig is a pod in the node's cgroup with the given host ports.
func (n *testNode) sandboxConfig(name string, ports ...*runtimeapi.PortMapping) *runtimeapi.PodSandboxConfig {
	uid := uuid.NewString()
	return &runtimeapi.PodSandboxConfig{
		Metadata:     &runtimeapi.PodSandboxMetadata{Name: name, Namespace: "default", Uid: uid},
		Hostname:     name,
		LogDirectory: n.t.TempDir(),
		PortMappings: ports,
		Linux: &runtimeapi.LinuxPodSandboxConfig{
			CgroupParent: n.CgroupRoot() + "/besteffort/pod" + uid,
		},
	}
}

func (n *testNode) runSandbox(config *runtimeapi.PodSandboxConfig) string {
	n.t.Helper()
	reply, err := n.cri().RunPodSandbox(n.t.Context(), &runtimeapi.RunPodSandboxRequest{Config: config})
	if err != nil {
		n.t.Fatal(err)
	}
	return reply.GetPodSandboxId()
}

func (n *testNode) sandboxStatus(id string) *runtimeapi.PodSandboxStatus {
	n.t.Helper()
	reply, err := n.cri().PodSandboxStatus(n.t.Context(), &runtimeapi.PodSandboxStatusRequest{PodSandboxId: id})
	if err != nil {
		n.t.Fatal(err)
	}
	return reply.GetStatus()
}

// waitUntil asks every few milliseconds, for a few seconds.
func (n *testNode) waitUntil(what string, ask func() bool) {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(n.t.Context(), 10*time.Second)
	defer cancel()
	if err := poll(ctx, func() (bool, error) { return ask(), nil }); err != nil {
		n.t.Fatalf("%s: %v", what, err)
	}
}

func TestNodeRuntime(t *testing.T) {
	n := newTestNode(t)
	stop := n.supervise(n.Runtime)
	ctx := t.Context()
	if err := n.ImportImages(ctx); err != nil {
		t.Fatal(err)
	}
	podCIDR := netip.MustParsePrefix("10.251.7.0/24")
	if err := n.WriteNetwork(ctx, podCIDR); err != nil {
		t.Fatal(err)
	}
	n.waitUntil("network ready", n.networkReady)
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

	t.Run("teardown leaves nothing", func(t *testing.T) {
		stop()
		if err := n.Teardown(ctx); err != nil {
			t.Fatal(err)
		}
		for _, left := range n.leftovers() {
			t.Errorf("left behind: %s", left)
		}
	})
}

func (n *testNode) networkReady() bool {
	reply, err := n.cri().Status(n.t.Context(), &runtimeapi.StatusRequest{})
	if err != nil {
		return false
	}
	for _, c := range reply.GetStatus().GetConditions() {
		if c.GetType() == runtimeapi.NetworkReady {
			return c.GetStatus()
		}
	}
	return false
}

// leftovers names what the node still takes from the machine.
func (n *testNode) leftovers() []string {
	var left []string
	for _, e := range listProcesses() {
		if line := strings.Join(e.args, " "); strings.Contains(line, n.cfg.RunDir) || strings.Contains(line, n.cfg.Dir) {
			left = append(left, "process "+line)
		}
	}
	mounts, err := mountinfo.GetMounts(nil)
	if err != nil {
		n.t.Fatal(err)
	}
	for _, m := range mounts {
		if strings.Contains(m.Mountpoint, n.cfg.NodeID) || strings.HasPrefix(m.Mountpoint, n.cfg.Dir) {
			left = append(left, "mount "+m.Mountpoint)
		}
	}
	if _, err := netlink.LinkByName(n.bridge()); err == nil {
		left = append(left, "link "+n.bridge())
	}
	for _, dir := range cgroupDirs(n.CgroupRoot()) {
		left = append(left, "cgroup "+dir)
	}
	if _, err := os.Stat(n.cfg.RunDir); err == nil {
		left = append(left, "directory "+n.cfg.RunDir)
	}
	rules, err := listRules(context.Background())
	if err != nil {
		n.t.Fatal(err)
	}
	for _, r := range rules {
		if strings.Contains(r.spec, n.name()) {
			left = append(left, "rule "+r.chain+" "+r.spec)
		}
	}
	return left
}
