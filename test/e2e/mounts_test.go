// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// hostDir makes a directory of the test's own on the node.
func (w *world) hostDir() string {
	w.t.Helper()
	dir := filepath.Join(suite.Dir, "host-"+w.ns)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// mountTmpfs mounts at a path of the node until the test's end.
func (w *world) mountTmpfs(path string) {
	w.t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", path, "tmpfs", 0, "size=1m"); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { unix.Unmount(path, unix.MNT_DETACH) })
}

func hostPath(path string, kind corev1.HostPathType) corev1.VolumeSource {
	return corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: path, Type: &kind}}
}

func TestMountsArePropagatedAsAsked(t *testing.T) {
	w := shared(t)
	dir := w.hostDir()
	w.mountTmpfs(dir)
	if err := unix.Mount("", dir, "", unix.MS_SHARED, ""); err != nil {
		t.Fatal(err)
	}
	mounted := func(mode corev1.MountPropagationMode) corev1.VolumeMount {
		return corev1.VolumeMount{Name: "v", MountPath: "/v", MountPropagation: &mode}
	}
	const look = "while true; do test -e /v/late/f && echo seen || echo not there; sleep 1; done"
	both := shell("both", "mkdir /v/own && mount -t tmpfs own /v/own && touch /v/own/f && echo done; sleep 1000")
	both.SecurityContext = &corev1.SecurityContext{Privileged: ptr.To(true)}
	p := pod("p", mounting(shell("none", look), mounted(corev1.MountPropagationNone)),
		mounting(shell("in", look), mounted(corev1.MountPropagationHostToContainer)),
		mounting(both, mounted(corev1.MountPropagationBidirectional)))
	p.Spec.Volumes = []corev1.Volume{volume("v", hostPath(dir, corev1.HostPathDirectory))}
	w.create(p)
	w.ready("p")
	w.mountTmpfs(filepath.Join(dir, "late"))
	if err := os.WriteFile(filepath.Join(dir, "late", "f"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	w.waitLogOf("p", "in", "seen")
	if log := w.waitLogOf("p", "none", "not there"); strings.Contains(log, "seen") {
		t.Error("a mount of the node reached a container that does not want it")
	}
	w.waitLogOf("p", "both", "done")
	if _, err := os.Stat(filepath.Join(dir, "own", "f")); err != nil {
		t.Error("the container's mount did not reach the node:", err)
	}
	t.Cleanup(func() { unix.Unmount(filepath.Join(dir, "own"), unix.MNT_DETACH) })
}

func TestReadOnlyMountsAreSoBelow(t *testing.T) {
	w := shared(t)
	dir := w.hostDir()
	w.mountTmpfs(filepath.Join(dir, "below"))
	c := shell("c", "for d in plain all; do touch /$d/f && echo $d; touch /$d/below/f && echo $d below; done; echo tried; sleep 1000")
	c = mounting(c, corev1.VolumeMount{Name: "v", MountPath: "/plain", ReadOnly: true})
	c = mounting(c, corev1.VolumeMount{Name: "v", MountPath: "/all", ReadOnly: true, RecursiveReadOnly: ptr.To(corev1.RecursiveReadOnlyIfPossible)})
	p := pod("p", c)
	p.Spec.Volumes = []corev1.Volume{volume("v", hostPath(dir, corev1.HostPathDirectory))}
	w.create(p)
	ready := w.ready("p")
	mounts := container(ready, "c").VolumeMounts
	if len(mounts) != 2 || *mounts[0].RecursiveReadOnly != corev1.RecursiveReadOnlyDisabled || mounts[1].RecursiveReadOnly == nil {
		t.Fatalf("status: %+v", mounts)
	}
	want := "plain below\n"
	if *mounts[1].RecursiveReadOnly == corev1.RecursiveReadOnlyDisabled {
		t.Log("this runtime, or its kernel, makes no mounts read-only below")
		want += "all below\n"
	}
	var wrote string
	for line := range strings.Lines(w.waitLog("p", "tried")) {
		if !strings.Contains(line, "touch:") {
			wrote += line
		}
	}
	if wrote != want+"tried\n" {
		t.Errorf("written: %q, want %q", wrote, want)
	}
}

func TestHostPathsAreCheckedByType(t *testing.T) {
	w := shared(t)
	dir := w.hostDir()
	p := pod("p", shell("c", "echo written > /file; ls -d /dir /null; sleep 1000"))
	for path, source := range map[string]corev1.VolumeSource{
		"/file": hostPath(filepath.Join(dir, "file"), corev1.HostPathFileOrCreate),
		"/dir":  hostPath(filepath.Join(dir, "a", "dir"), corev1.HostPathDirectoryOrCreate),
		"/null": hostPath("/dev/null", corev1.HostPathCharDev),
	} {
		withVolume(p, path, source)
	}
	w.create(p)
	w.ready("p")
	w.waitLog("p", "/null")
	if b, err := os.ReadFile(filepath.Join(dir, "file")); err != nil || string(b) != "written\n" {
		t.Errorf("the node's file: %q, %v", b, err)
	}
	w.create(withVolume(pod("no-socket", shell("c", "true")), "/s", hostPath(filepath.Join(dir, "file"), corev1.HostPathSocket)))
	w.waitEvent("no-socket", "hostPath type check failed: "+filepath.Join(dir, "file")+" is not a socket file")
}
