// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

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
// makes all of it again.
func TestNodeSurvivesTheLossOfItsStateDirectory(t *testing.T) {
	w := own(t, 1)
	n := w.Nodes[0]
	if err := os.RemoveAll(n.StateDir); err != nil {
		t.Fatal(err)
	}
	if err := mirror(n); err != nil {
		t.Fatal(err)
	}
	w.create(pod("after", app("c")))
	w.waitFor(healing, "after", "is Ready", isReady)
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
