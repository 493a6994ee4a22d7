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
	"google.golang.org/grpc"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// binDir is where `make runtime` puts the node runtime.
const binDir = "../../bin/runtime"

// testNode is a node's own containerd under test.
type testNode struct {
	*Runtime
	t    testing.TB
	conn *grpc.ClientConn
}

// newTestNode makes a node that leaves nothing behind. Without root or the node
// runtime the test is skipped, but fails where CI=true promises both.
func newTestNode(t testing.TB) *testNode {
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
	conn, err := r.dial()
	if err != nil {
		t.Fatal(err)
	}
	n := &testNode{Runtime: r, t: t, conn: conn}
	t.Cleanup(func() {
		conn.Close()
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
	return runtimeapi.NewRuntimeServiceClient(n.conn)
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

// prepareNetwork has the node ready for sandboxes.
func (n *testNode) prepareNetwork(podCIDR netip.Prefix) {
	n.t.Helper()
	if err := n.ImportImages(n.t.Context()); err != nil {
		n.t.Fatal(err)
	}
	if err := n.WriteNetwork(n.t.Context(), podCIDR); err != nil {
		n.t.Fatal(err)
	}
	n.waitUntil("network ready", n.networkReady)
}

func (n *testNode) runSandbox(config *runtimeapi.PodSandboxConfig) string {
	n.t.Helper()
	reply, err := n.cri().RunPodSandbox(n.t.Context(), &runtimeapi.RunPodSandboxRequest{Config: config})
	if err != nil {
		n.t.Fatal(err)
	}
	return reply.GetPodSandboxId()
}

func (n *testNode) removeSandbox(id string) {
	n.t.Helper()
	if _, err := n.cri().StopPodSandbox(n.t.Context(), &runtimeapi.StopPodSandboxRequest{PodSandboxId: id}); err != nil {
		n.t.Fatal(err)
	}
	if _, err := n.cri().RemovePodSandbox(n.t.Context(), &runtimeapi.RemovePodSandboxRequest{PodSandboxId: id}); err != nil {
		n.t.Fatal(err)
	}
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
	cached, _ := filepath.Glob(filepath.Join(cniCache, n.name()+"-*"))
	for _, file := range cached {
		left = append(left, "file "+file)
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
