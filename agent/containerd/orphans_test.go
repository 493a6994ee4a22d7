// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/internal/mounts"
)

func shimOf(r *Runtime, pid int, start uint64, namespace, id, address string) entry {
	return entry{
		process: process{PID: pid, StartTime: start, Executable: r.shim()},
		args:    []string{r.shim(), "-namespace", namespace, "-id", id, "-address", address},
	}
}

func TestOrphanShims(t *testing.T) {
	r := &Runtime{cfg: Config{RunDir: "/run/berth/01234567", BinDir: "/opt/runtime"}}
	containerd := process{PID: 2, StartTime: 100}
	old, started := uint64(99), uint64(100)
	for name, test := range map[string]struct {
		shim    entry
		suspect bool
		want    string
	}{
		"known":                      {shimOf(r, 7, old, "k8s.io", "known", r.socket()), false, ""},
		"known, suspected before":    {shimOf(r, 7, started, "k8s.io", "known", r.socket()), true, ""},
		"older than containerd":      {shimOf(r, 7, old, "k8s.io", "lost", r.socket()), false, "orphan"},
		"just started":               {shimOf(r, 7, started, "k8s.io", "new", r.socket()), false, "suspect"},
		"unknown the second time":    {shimOf(r, 7, started, "k8s.io", "new", r.socket()), true, "orphan"},
		"in a namespace of others":   {shimOf(r, 7, old, "default", "lost", r.socket()), false, ""},
		"of another node":            {shimOf(r, 7, old, "k8s.io", "lost", "/run/berth/76543210/containerd.sock"), false, ""},
		"of the machine's":           {shimOf(r, 7, old, "k8s.io", "lost", "/run/containerd/containerd.sock"), false, ""},
		"another program":            {entry{process: process{PID: 7, Executable: "/bin/sh"}, args: shimOf(r, 7, old, "k8s.io", "lost", r.socket()).args}, false, ""},
		"its arguments are cut off":  {entry{process: process{PID: 7, Executable: r.shim()}, args: []string{r.shim(), "-id"}}, false, ""},
		"another of the same number": {shimOf(r, 8, started, "k8s.io", "new", r.socket()), true, "suspect"},
	} {
		t.Run(name, func(t *testing.T) {
			before := map[process]bool{}
			if test.suspect {
				before[process{PID: 7, StartTime: test.shim.StartTime, Executable: r.shim()}] = true
			}
			orphans, suspects := orphanShims(r.shims([]entry{test.shim}), map[string]bool{"known": true}, containerd, before)
			got := ""
			if len(orphans) > 0 {
				got = "orphan"
			}
			if suspects[test.shim.process] {
				got += "suspect"
			}
			if got != test.want {
				t.Errorf("it is %q, want %q", got, test.want)
			}
		})
	}
}

func TestContainersOfAnOrphanByTheirCgroups(t *testing.T) {
	a, b := strings.Repeat("a1", 32), strings.Repeat("b2", 32)
	o := orphan{ids: map[string]bool{}, cgroups: map[string]bool{}}
	for _, line := range []string{
		"12:memory:/berth-01234567/besteffort/pod1/" + a + "\n",
		"0::/berth-01234567/burstable/pod1/" + b + "/of/its/own\n",
		"11:cpu:/berth-012345678/besteffort/pod1/" + strings.Repeat("c3", 32) + "\n",
		"10:pids:/berth-01234567/besteffort/pod1\n",
		"1:name=systemd:/user.slice\n", "", "malformed\n",
	} {
		o.addCgroup("/berth-01234567", line)
	}
	want := orphan{
		ids:     map[string]bool{a: true, b: true},
		cgroups: map[string]bool{"/berth-01234567/besteffort/pod1/" + a: true, "/berth-01234567/burstable/pod1/" + b: true},
	}
	if diff := cmp.Diff(want.ids, o.ids); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want.cgroups, o.cgroups); diff != "" {
		t.Errorf("cgroups (-want +got):\n%s", diff)
	}
}

// ofSandbox names what the machine still has of a sandbox.
func (n *testNode) ofSandbox(id, address string) []string {
	var left []string
	for _, e := range withDescendants(listProcesses(), func(e entry) bool { return n.isShim(e) && e.flag("-id") == id }) {
		left = append(left, "process "+strings.Join(e.args, " "))
	}
	for _, pattern := range []string{
		filepath.Join(n.stateDir(), "*", "*", id), filepath.Join(n.ipamDir(), n.name(), address),
		filepath.Join(cniCache, "*"+id+"*"), "/sys/fs/cgroup/*/" + n.name() + "/*/*/" + id, "/sys/fs/cgroup/" + n.name() + "/*/*/" + id,
	} {
		found, _ := filepath.Glob(pattern)
		left = append(left, found...)
	}
	rules, err := listRules(n.t.Context())
	if err != nil {
		n.t.Fatal(err)
	}
	for _, r := range rules {
		if strings.Contains(r.spec, "--to-destination "+address+":") {
			left = append(left, "rule "+r.spec)
		}
	}
	return left
}

func (n *testNode) namespaces() []string {
	files, _ := filepath.Glob(filepath.Join(n.stateDir(), "*", "netns", "*"))
	return files
}

// Without its metadata containerd makes every pod anew, so the former ones must end.
// Those that it knows run on.
func TestShimsOfALostRootAreEnded(t *testing.T) {
	n := newTestNode(t)
	stop := n.supervise(n.Runtime)
	n.prepareNetwork(netip.MustParsePrefix("10.251.12.0/24"))
	port := &runtimeapi.PortMapping{Protocol: runtimeapi.Protocol_TCP, ContainerPort: 80, HostPort: 31998}
	lost := n.runSandbox(n.sandboxConfig("lost", port))
	address := n.sandboxStatus(lost).GetNetwork().GetIp()
	if held := n.ofSandbox(lost, address); len(held) < 6 {
		t.Errorf("the sandbox holds %q only", held)
	}
	stop()
	if err := n.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(n.cfg.Dir); err != nil {
		t.Fatal(err)
	}
	stop = n.supervise(n.Runtime)
	n.prepareNetwork(netip.MustParsePrefix("10.251.12.0/24"))
	n.waitUntil("end of what was lost", func() bool { return len(n.ofSandbox(lost, address))+len(n.namespaces()) == 0 })

	kept := n.runSandbox(n.sandboxConfig("kept", port))
	address = n.sandboxStatus(kept).GetNetwork().GetIp()
	// For an instant of its exec a process has no arguments.
	n.waitUntil("the pause program", func() bool { return slices.Contains(n.ofSandbox(kept, address), "process /pause") })
	before := n.ofSandbox(kept, address)
	stop()
	if err := n.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	stop = n.supervise(n.Runtime)
	t.Cleanup(stop)
	n.lookTwice()
	after := n.ofSandbox(kept, n.sandboxStatus(kept).GetNetwork().GetIp())
	if !slices.Equal(before, after) {
		t.Errorf("of a sandbox that containerd knows there was %q, is %q", before, after)
	}
}

// A containerd that was killed while it started a pod removes the pod's record, and
// leaves the shim.
func TestShimOfABrokenStartIsEnded(t *testing.T) {
	n := newTestNode(t)
	stop := n.supervise(n.Runtime)
	n.prepareNetwork(netip.MustParsePrefix("10.251.13.0/24"))
	sandbox := n.runSandbox(n.sandboxConfig("broken"))
	address := n.sandboxStatus(sandbox).GetNetwork().GetIp()
	stop()
	if err := n.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	bundle := filepath.Join(n.stateDir(), "io.containerd.runtime.v2.task", criNamespace, sandbox)
	if err := mounts.UnmountBelow(bundle, unix.MNT_DETACH); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(bundle); err != nil {
		t.Fatal(err)
	}
	stop = n.supervise(n.Runtime)
	t.Cleanup(stop)
	n.removeSandbox(sandbox)
	n.lookTwice()
	if left := n.ofSandbox(sandbox, address); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// lookTwice looks for shims that containerd does not know as its supervisor does.
func (n *testNode) lookTwice() {
	n.t.Helper()
	containerd, err := n.recorded()
	if err != nil {
		n.t.Fatal(err)
	}
	var suspects map[process]bool
	for range 2 {
		if suspects, err = n.endOrphans(n.t.Context(), containerd, suspects); err != nil {
			n.t.Fatal(err)
		}
	}
}
