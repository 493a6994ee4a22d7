// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/test/internal/harness"
)

// healing bounds the wait for what an agent finds by looking now and then.
const healing = 100 * time.Second

// eventually waits until ok says so.
func (w *world) eventually(what string, ok func() bool) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), healing)
	defer cancel()
	if err := harness.Poll(ctx, what, func() (bool, error) { return ok(), nil }); err != nil {
		w.t.Fatal(err)
	}
}

// The network of a node can be taken away by hand. What pods need comes back.
func TestTheNodesNetworkIsSetUpAgain(t *testing.T) {
	w := own(t, 1)
	n := w.Nodes[0]
	for _, file := range match(t, n.StateDir+"/containerd/net.d/*") {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	rule := masquerade(t, n)
	command(t, "iptables", append([]string{"-w", "10", "-t", "nat", "-D"}, rule[1:]...)...)
	w.create(pod("web", app("c", "serve", "80")))
	w.page(w.ready("web"), "/")
	w.eventually("the masquerade rule is back", func() bool { return masquerade(t, n) != nil })
}

// Pods whose bridge is removed by hand are cut off, and are made anew on a new one.
func TestPodsComeBackFromTheLossOfTheBridge(t *testing.T) {
	w := own(t, 1)
	n := w.Nodes[0]
	w.create(pod("web", app("c", "serve", "80")))
	before := w.ready("web")
	w.page(before, "/")
	command(t, "ip", "link", "del", "br-"+n.ID)
	after := w.waitFor(healing, "web", "is made anew", func(p *corev1.Pod) bool {
		return isReady(p) && container(p, "c").ContainerID != container(before, "c").ContainerID
	})
	w.page(after, "/")
}

// What an adopted containerd lacks it does not get again, so it is replaced.
func TestAgentReplacesAContainerdThatCannotBeReached(t *testing.T) {
	w := own(t, 1)
	n := w.Nodes[0]
	w.create(pod("before", app("c")))
	before := w.ready("before")
	endpoint, err := n.Endpoint()
	if err == nil {
		err = errors.Join(n.Kill(), os.Remove(strings.TrimPrefix(endpoint, "unix://")), n.Start())
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := n.WaitHealthy(w.ctx()); err != nil {
		t.Fatal(err)
	}
	w.create(pod("after", app("c")))
	w.ready("after")
	if was, is := container(before, "c"), container(w.ready("before"), "c"); was.ContainerID != is.ContainerID || is.RestartCount != 0 {
		t.Errorf("the container went from %+v to %+v", was, is)
	}
}

// A removed state directory takes containerd's images and metadata with it. The node
// makes all of it again, and each pod runs once.
func TestNodeSurvivesTheLossOfItsStateDirectory(t *testing.T) {
	w := own(t, 1)
	n := w.Nodes[0]
	w.create(pod("before", app("c", "serve", "80")))
	w.ready("before")
	// The node makes again what it misses, also while the rest is being removed.
	w.eventually("the directory is removed", func() bool { return os.RemoveAll(n.StateDir) == nil })
	if err := mirror(n); err != nil {
		t.Fatal(err)
	}
	w.create(pod("after", app("c")))
	w.waitFor(healing, "after", "is Ready", isReady)
	w.eventually("one shim for each pod", func() bool { return len(shims(t, n)) == 2 })
	w.page(w.ready("before"), "/")
}

// A containerd that is killed while pods start leaves shims that it does not know when
// it is back.
func TestNoShimOutlivesItsPod(t *testing.T) {
	w := own(t, 1)
	n := w.Nodes[0]
	var killed int
	for round := range rounds(4, 20) {
		w.eventually("a new containerd", func() bool { return containerd(t, n) != killed && n.WaitHealthy(w.ctx()) == nil })
		for i := range 6 {
			w.create(pod(fmt.Sprintf("p%d-%d", round, i), app("c")))
		}
		time.Sleep(time.Duration(100*(round+1)) * time.Millisecond) // it may be killed at any moment
		killed = containerd(t, n)
		if err := syscall.Kill(killed, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		for i := range 6 {
			w.delete(fmt.Sprintf("p%d-%d", round, i), 0)
		}
	}
	w.eventually("no shim", func() bool { return len(shims(t, n)) == 0 })
}

// containerd is the process of the node's containerd.
func containerd(t *testing.T, n *harness.Node) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/run/berth", n.ID, "process.json"))
	var p struct{ PID int }
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p.PID
}

// shims are the processes of the node's shims.
func shims(t *testing.T, n *harness.Node) []string {
	t.Helper()
	var all []string
	for _, file := range match(t, "/proc/[0-9]*/cmdline") {
		text, _ := os.ReadFile(file) // it may have ended
		if line := string(text); strings.Contains(line, "containerd-shim") && strings.Contains(line, "/run/berth/"+n.ID+"/") {
			all = append(all, file)
		}
	}
	return all
}

// masquerade is the node's rule as iptables lists it.
func masquerade(t *testing.T, n *harness.Node) []string {
	t.Helper()
	for line := range strings.Lines(command(t, "iptables", "-w", "10", "-t", "nat", "-S", "POSTROUTING")) {
		if strings.Contains(line, "berth-"+n.ID) {
			return strings.Fields(line)
		}
	}
	return nil
}

func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}
