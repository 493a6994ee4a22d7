// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// secretPod has a Secret volume, whose path is returned too.
func secretPod(t *testing.T, m *Manager, objects *fakeObjects) (*corev1.Pod, string) {
	t.Helper()
	objects.secrets["s"] = &corev1.Secret{Data: map[string][]byte{"k": []byte("secret")}}
	pod := podWith(corev1.Volume{Name: "v", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s"}}})
	return pod, mount(t, m, pod)
}

func bind(t *testing.T, source, target string) {
	t.Helper()
	if err := os.MkdirAll(target, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount(source, target, "", unix.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Unmount(target, unix.MNT_DETACH) })
}

func wantGone(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is there still: %v", path, err)
	}
}

func TestB073AllLayersAreUnmounted(t *testing.T) {
	real := t.TempDir()
	state := filepath.Join(t.TempDir(), "state")
	link(t, real, state)
	m, objects := newManager(t)
	m.pods = state
	pod, dir := secretPod(t, m, objects)
	bind(t, dir, dir)
	other := t.TempDir()
	write(t, filepath.Join(other, "mine"), "another's")
	bind(t, other, dir)
	if err := m.Unmount(t.Context(), pod.UID); err != nil {
		t.Fatal(err)
	}
	wantGone(t, dir)
	if got := read(t, other, "mine"); got != "another's" {
		t.Errorf("what was mounted over the volume has %q", got)
	}
	if left := m.Leftovers(); len(left) > 0 {
		t.Errorf("left: %+v", left)
	}
}

func TestB073WhatIsInUseIsDetachedInTheEnd(t *testing.T) {
	m, objects := newManager(t)
	var told []types.UID
	m.detached = func(uid types.UID, why error) { told = append(told, uid); t.Log(why) }
	pod, dir := secretPod(t, m, objects)
	held, err := os.Open(filepath.Join(dir, "k"))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := m.Unmount(t.Context(), pod.UID); !errors.Is(err, unix.EBUSY) {
		t.Fatalf("in use: %v", err)
	}
	if got := read(t, dir, "k"); got != "secret" || len(told) > 0 {
		t.Errorf("before its time: %q, told of %q", got, told)
	}
	m.patience = 0
	if err := m.Unmount(t.Context(), pod.UID); err != nil {
		t.Fatal(err)
	}
	wantGone(t, dir)
	if !slices.Equal(told, []types.UID{pod.UID}) {
		t.Errorf("told of %q", told)
	}
	left := m.Leftovers()
	if len(left) != 1 || left[0].Path != dir || !slices.Equal(left[0].HeldBy, []string{strconv.Itoa(os.Getpid())}) {
		t.Errorf("left: %+v", left)
	}
	held.Close()
	if left := m.Leftovers(); len(left) > 0 {
		t.Errorf("left after it was let go: %+v", left)
	}
}

func TestB073ASecondMountIsToldOf(t *testing.T) {
	m, objects := newManager(t)
	pod, dir := secretPod(t, m, objects)
	second := t.TempDir()
	bind(t, dir, second)
	if err := m.Unmount(t.Context(), pod.UID); err != nil {
		t.Fatal(err)
	}
	wantGone(t, dir)
	if left := m.Leftovers(); len(left) != 1 || left[0].UID != pod.UID || !slices.Equal(left[0].Mounted, []string{second}) {
		t.Errorf("left: %+v", left)
	}
	if err := unix.Unmount(second, 0); err != nil {
		t.Fatal(err)
	}
	if left := m.Leftovers(); len(left) > 0 {
		t.Errorf("left after it was unmounted: %+v", left)
	}
}

func TestAnAgentTakesOverWhatItsPredecessorMounted(t *testing.T) {
	m, objects := newManager(t)
	pod, dir := secretPod(t, m, objects)
	again, _ := newManager(t)
	again.pods, again.objects = m.pods, objects
	if mount(t, again, pod) != dir {
		t.Error("the volume is elsewhere")
	}
	if list, err := again.inMemory(pod.UID); err != nil || len(list) != 1 {
		t.Errorf("mounted: %+v, %v", list, err)
	}
	if err := again.Unmount(t.Context(), pod.UID); err != nil {
		t.Fatal(err)
	}
	wantGone(t, dir)
}
