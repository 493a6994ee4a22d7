// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
)

// emptyDirPod has an emptyDir v, whose path is returned too.
func emptyDirPod(t *testing.T, m *Manager) (*corev1.Pod, string) {
	t.Helper()
	pod := podWith(corev1.Volume{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	return pod, mount(t, m, pod)
}

func part(path string) podtypes.SubPath {
	return podtypes.SubPath{Volume: "v", Path: path, Container: "c"}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

func TestSubPathShowsAPartOfTheVolume(t *testing.T) {
	m, _ := newManager(t)
	pod, dir := emptyDirPod(t, m)
	write(t, filepath.Join(dir, "a", "f"), "content")
	link(t, "a", filepath.Join(dir, "inside"))
	link(t, "../v/a", filepath.Join(dir, "a", "out-and-in"))
	for path, file := range map[string]string{"a": "f", "a/f": "", "./a/": "f", "inside": "f", "inside/f": ""} {
		place, err := m.SubPath(pod.UID, part(path))
		if err != nil {
			t.Errorf("%s: %v", path, err)
		} else if got := read(t, place, file); got != "content" {
			t.Errorf("%s shows %q", path, got)
		}
	}
}

func TestSubPathMakesMissingDirectories(t *testing.T) {
	m, _ := newManager(t)
	pod, dir := emptyDirPod(t, m)
	place, err := m.SubPath(pod.UID, part("a/b"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(place, "f"), "through the mount")
	if got := read(t, dir, "a", "b", "f"); got != "through the mount" {
		t.Errorf("the volume has %q", got)
	}
	for _, made := range []string{"a", "a/b"} {
		if info, err := os.Stat(filepath.Join(dir, made)); err != nil || info.Mode() != os.ModeDir|0o777 {
			t.Errorf("%s: %v, %v", made, info.Mode(), err)
		}
	}
}

func TestSubPathDoesNotLeaveTheVolume(t *testing.T) {
	m, _ := newManager(t)
	pod, dir := emptyDirPod(t, m)
	outside := t.TempDir()
	write(t, filepath.Join(outside, "f"), "the node's")
	write(t, filepath.Join(dir, "file"), "")
	link(t, "/", filepath.Join(dir, "root"))
	link(t, outside, filepath.Join(dir, "absolute"))
	link(t, "../../../../../../../../etc", filepath.Join(dir, "relative"))
	link(t, "/proc/self/root", filepath.Join(dir, "magic"))
	link(t, "missing", filepath.Join(dir, "dangling"))
	link(t, "loop", filepath.Join(dir, "loop"))
	for path, words := range map[string]string{
		"root":         `"root" leads out of the volume`,
		"absolute/f":   `"absolute/f" leads out of the volume`,
		"absolute/new": `"absolute/new" leads out of the volume`,
		"relative":     `"relative" leads out of the volume`,
		"magic":        `"magic" leads out of the volume`,
		"../uid":       `"../uid" leads out of the volume`,
		"dangling":     "no such file or directory",
		"loop":         "too many levels of symbolic links",
		"file/a":       "not a directory",
	} {
		if place, err := m.SubPath(pod.UID, part(path)); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: at %q, %v, want %q", path, place, err, words)
		}
	}
	if _, err := os.Stat(filepath.Join(outside, "new")); err == nil {
		t.Error("a directory was made outside of the volume")
	}
}

// TestB076 exchanges a directory and a link out of the volume while parts are mounted.
func TestB076SubPathIsNeverOutsideOfTheVolume(t *testing.T) {
	m, _ := newManager(t)
	pod, dir := emptyDirPod(t, m)
	outside := t.TempDir()
	write(t, filepath.Join(outside, "x", "shadow"), "the node's")
	write(t, filepath.Join(dir, "a", "x", "mine"), "the volume's")
	link(t, outside, filepath.Join(dir, "b"))
	ctx, cancel := context.WithCancel(t.Context())
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for ctx.Err() == nil {
			err := unix.Renameat2(unix.AT_FDCWD, filepath.Join(dir, "a"), unix.AT_FDCWD, filepath.Join(dir, "b"), unix.RENAME_EXCHANGE)
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	defer swapping.Wait()
	defer cancel()
	mounted := 0
	for range 500 {
		place, err := m.SubPath(pod.UID, part("a/x"))
		if err != nil {
			continue
		}
		mounted++
		if _, err := os.Stat(filepath.Join(place, "shadow")); err == nil {
			t.Fatal("the mount shows what is outside of the volume")
		}
	}
	if mounted == 0 || mounted == 500 {
		t.Errorf("%d of 500 were mounted: nothing was exchanged", mounted)
	}
}

func TestSubPathReplacesThatOfTheFormerContainer(t *testing.T) {
	m, _ := newManager(t)
	pod, dir := emptyDirPod(t, m)
	for _, text := range []string{"first", "second"} {
		write(t, filepath.Join(dir, "f.new"), text)
		if err := os.Rename(filepath.Join(dir, "f.new"), filepath.Join(dir, "f")); err != nil {
			t.Fatal(err)
		}
		place, err := m.SubPath(pod.UID, part("f"))
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, place); got != text {
			t.Errorf("it shows %q, want %q", got, text)
		}
	}
	if err := m.Unmount(t.Context(), pod.UID); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(m.podDir(pod.UID)); err != nil || len(entries) > 0 {
		t.Errorf("left: %v, %v", entries, err)
	}
}

func TestB068SubPathOfAConfigMapStaysAsItIs(t *testing.T) {
	m, objects := newManager(t)
	objects.configMaps["cm"] = &corev1.ConfigMap{Data: map[string]string{"k": "old"}}
	pod := podWith(configMapVolume(corev1.ConfigMapVolumeSource{}))
	mount(t, m, pod)
	place, err := m.SubPath(pod.UID, part("k"))
	if err != nil {
		t.Fatal(err)
	}
	objects.configMaps["cm"] = &corev1.ConfigMap{Data: map[string]string{"k": "new"}}
	if _, err := m.Mount(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	if got := read(t, place); got != "old" {
		t.Errorf("the part that is mounted shows %q", got)
	}
	if place, err = m.SubPath(pod.UID, part("k")); err != nil || read(t, place) != "new" {
		t.Errorf("the next container's: %v", err)
	}
}
