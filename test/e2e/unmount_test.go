// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/test/internal/harness"
)

// nodeOf returns the node that the pod runs on.
func (w *world) nodeOf(p *corev1.Pod) *harness.Node {
	w.t.Helper()
	i := slices.IndexFunc(w.Nodes, func(n *harness.Node) bool { return n.Name == p.Spec.NodeName })
	if i < 0 {
		w.t.Fatalf("no node is named %q", p.Spec.NodeName)
	}
	return w.Nodes[i]
}

func TestB073ASecretInUseDoesNotHoldItsPod(t *testing.T) {
	w := shared(t)
	w.secret("s", corev1.SecretTypeOpaque, map[string][]byte{"k": []byte("v")})
	w.create(withVolume(pod("p", shell("c", "sleep 1000")), "/s", corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s"}}))
	p := w.ready("p")
	node := w.nodeOf(p)
	dir := filepath.Join(node.PodDir(string(p.UID)), "volumes", "secret", "s")
	held, err := os.Open(filepath.Join(dir, "k"))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	for _, target := range []string{dir, w.hostDir()} { // over itself, and elsewhere
		if err := unix.Mount(dir, target, "", unix.MS_BIND, ""); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Unmount(target, unix.MNT_DETACH) })
	}
	w.delete("p", 1)
	w.gone("p", 2*time.Minute)
	if _, err := os.Lstat(node.PodDir(string(p.UID))); !os.IsNotExist(err) {
		t.Errorf("the pod's directory: %v", err)
	}
	w.waitEvent("p", "FailedUnMount: ")
	isListed := func() bool {
		metrics, err := node.Metrics(w.ctx())
		return err == nil && strings.Contains(metrics, "berth_agent_leftover_volume{") && strings.Contains(metrics, string(p.UID))
	}
	if !isListed() {
		t.Error("what others keep of the volume is not listed")
	}
	held.Close()
	if err := unix.Unmount(w.hostDir(), 0); err != nil {
		t.Fatal(err)
	}
	if isListed() {
		t.Error("what nobody keeps any more is listed still")
	}
}
