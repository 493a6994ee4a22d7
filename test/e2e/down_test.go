// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/test/internal/harness"
)

// down runs berth with these arguments and checks its exit code and what it says.
func (w *world) down(code int, says string, args ...string) {
	w.t.Helper()
	// Not the test's own context: it also cleans up.
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	var out bytes.Buffer
	c := exec.CommandContext(ctx, suite.Berth, args...)
	c.Stdout, c.Stderr = &out, &out
	if err := c.Run(); c.ProcessState == nil {
		w.t.Fatal(err)
	}
	if c.ProcessState.ExitCode() != code || !strings.Contains(out.String(), says) {
		w.t.Errorf("berth %s: %s, want exit status %d and %q:\n%s", strings.Join(args, " "), c.ProcessState, code, says, out.String())
	}
}

// killedOften runs berth with these arguments and kills it, each time a bit later.
func (w *world) killedOften(args ...string) {
	w.t.Helper()
	for i := range rounds(6, 40) {
		ctx, cancel := context.WithTimeout(w.ctx(), time.Duration(i+1)*20*time.Millisecond)
		_ = exec.CommandContext(ctx, suite.Berth, args...).Run()
		cancel()
	}
}

func (w *world) nothingLeft(n *harness.Node) {
	w.t.Helper()
	for _, left := range n.Leftovers() {
		w.t.Errorf("%s left %s", n.Name, left)
	}
	if _, err := os.Stat(n.StateDir); !os.IsNotExist(err) {
		w.t.Errorf("%s left its state directory: %v", n.Name, err)
	}
}

// withVolumes is a pod with a volume on the disk and one in memory.
func withVolumes(name string) *corev1.Pod {
	p := pod(name, app("c", "serve", "80"))
	for medium, name := range map[corev1.StorageMedium]string{corev1.StorageMediumDefault: "disk", corev1.StorageMediumMemory: "memory"} {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			EmptyDir: &corev1.EmptyDirVolumeSource{Medium: medium}}})
		p.Spec.Containers[0].VolumeMounts = append(p.Spec.Containers[0].VolumeMounts, corev1.VolumeMount{Name: name, MountPath: "/" + name})
	}
	return p
}

// Two nodes share a runtime, which is one's own. Each goes whole, and alone.
func TestAgentDownRemovesTheNodeAndNothingElse(t *testing.T) {
	w := own(t, 1)
	host := w.Nodes[0]
	endpoint, err := host.Endpoint()
	if err != nil {
		t.Fatal(err)
	}
	guest, err := w.AddNode("guest", "--runtime-endpoint", endpoint)
	if err != nil {
		t.Fatal(err)
	}
	if err := guest.Start(); err != nil {
		t.Fatal(err)
	}
	if err := w.WaitNodeReady(w.ctx(), guest.Name); err != nil {
		t.Fatal(err)
	}
	w.create(onNode(withVolumes("stays"), host.Name))
	w.create(onNode(withVolumes("goes"), guest.Name))
	stays, goes := w.ready("stays"), w.ready("goes")

	guestDown := []string{"agent", "down", "--state-dir", guest.StateDir}
	w.down(1, "its agent runs; stop it first", guestDown...)
	if page := w.page(w.get("goes"), "/"); page != "hello from goes\n" {
		t.Errorf("after a refused down: %q", page)
	}
	if err := guest.Stop(); err != nil {
		t.Fatal(err)
	}
	w.killedOften(guestDown...)
	w.down(0, "", guestDown...)
	w.nothingLeft(guest)
	if left := w.runtime(host).sandboxes(goes.UID); len(left) > 0 {
		t.Errorf("left in the runtime: %v", left)
	}
	w.down(0, "no node is there", guestDown...)
	if page := w.page(stays, "/"); page != "hello from stays\n" {
		t.Errorf("the other node's pod: %q", page)
	}
	if p := w.get("stays"); !isReady(p) || container(p, "c").ContainerID != container(stays, "c").ContainerID {
		t.Errorf("the other node's pod is %+v", p.Status)
	}

	hostDown := []string{"agent", "down", "--state-dir", host.StateDir}
	w.down(1, "its agent runs; stop it first", hostDown...)
	if err := host.Stop(); err != nil {
		t.Fatal(err)
	}
	w.killedOften(hostDown...)
	w.down(0, "", hostDown...)
	w.nothingLeft(host)
	w.down(0, "no node is there", hostDown...)
}
