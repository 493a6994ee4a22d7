// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/opencontainers/cgroups"
	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// newReal makes a manager over the machine's own cgroups and leaves none behind.
func newReal(t testing.TB) *Manager {
	t.Helper()
	if unix.Access(filepath.Join(DefaultMount, "cgroup.procs"), unix.W_OK) != nil &&
		unix.Access(filepath.Join(DefaultMount, "cpu"), unix.W_OK) != nil {
		t.Skip("no cgroups that can be written")
	}
	id := make([]byte, 4)
	if _, err := rand.Read(id); err != nil {
		t.Fatal(err)
	}
	m, err := New(Config{Root: "/berth-" + hex.EncodeToString(id), Logger: slog.New(slog.DiscardHandler)})
	if err == nil {
		err = m.Setup()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Teardown(context.Background()); err != nil {
			t.Error(err)
		}
		for _, dir := range m.tree.dirs(m.root) {
			if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("left behind: %s (%v)", dir, err)
			}
		}
	})
	return m
}

// read returns a file of the cgroup: the first name that exists, of version 1 or 2.
func read(t *testing.T, m *Manager, path string, names ...string) string {
	t.Helper()
	for _, name := range names {
		for _, dir := range m.tree.dirs(path) {
			if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
				return strings.TrimSpace(string(text))
			}
		}
	}
	t.Fatalf("cgroup %s has none of %v", path, names)
	return ""
}

func TestEnsurePodOnTheMachine(t *testing.T) {
	m := newReal(t)
	v2 := Detect() == V2
	figure := func(onV1, onV2 string) string {
		if v2 {
			return onV2
		}
		return onV1
	}
	p := pod("11111111-2222-3333-4444-555555555555", container("250m", "500m", "16Mi", "32Mi"))
	path := m.PodPath(p)
	if want := m.root + "/burstable/pod11111111-2222-3333-4444-555555555555"; path != want {
		t.Errorf("PodPath = %s, want %s", path, want)
	}
	check := func(what, want string, files ...string) {
		t.Helper()
		if got := read(t, m, path, files...); got != want {
			t.Errorf("%s is %s, want %s", what, got, want)
		}
	}
	if err := m.EnsurePod(p); err != nil {
		t.Fatal(err)
	}
	check("weight", figure("256", cgroupWeight(256)), "cpu.shares", "cpu.weight")
	check("quota", figure("50000", "50000 100000"), "cpu.cfs_quota_us", "cpu.max")
	check("memory", "33554432", "memory.limit_in_bytes", "memory.max")

	p.Spec.Containers = []corev1.Container{container("500m", "", "16Mi", "")}
	if err := m.EnsurePod(p); err != nil {
		t.Fatal(err)
	}
	check("weight after a resize", figure("512", cgroupWeight(512)), "cpu.shares", "cpu.weight")
	check("quota after its limit went", figure("-1", "max 100000"), "cpu.cfs_quota_us", "cpu.max")
	check("memory after its limit went", figure("9223372036854771712", "max"), "memory.limit_in_bytes", "memory.max")

	if err := m.UpdateQOS([]*corev1.Pod{p}); err != nil {
		t.Fatal(err)
	}
	if got, want := read(t, m, m.root+"/burstable", "cpu.shares", "cpu.weight"), figure("512", cgroupWeight(512)); got != want {
		t.Errorf("burstable weighs %s, want %s", got, want)
	}
	if err := m.UpdateQOS(nil); err != nil {
		t.Fatal(err)
	}
	if got, want := read(t, m, m.root+"/burstable", "cpu.shares", "cpu.weight"), figure("2", "1"); got != want {
		t.Errorf("burstable without pods weighs %s, want %s", got, want)
	}
}

func cgroupWeight(shares uint64) string {
	return strconv.FormatUint(cgroups.ConvertCPUSharesToCgroupV2Value(shares), 10)
}

func TestDestroyPodKillsWhatRuns(t *testing.T) {
	m := newReal(t)
	victim, other := pod("victim", container("", "", "", "")), pod("other", container("", "", "", ""))
	for _, p := range []*corev1.Pod{victim, other} {
		if err := m.EnsurePod(p); err != nil {
			t.Fatal(err)
		}
	}
	// As a runtime does, in a cgroup of its own below the pod's; here only in one hierarchy.
	sleep := exec.Command("sleep", "600")
	if err := sleep.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- sleep.Wait() }()
	enter(t, m, m.PodPath(victim), sleep.Process.Pid)

	if found, err := m.Pods(); err != nil || !cmp.Equal(found, []types.UID{"other", "victim"}) {
		t.Errorf("Pods = %v, %v", found, err)
	}
	if err := m.DestroyPod(t.Context(), victim.UID); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Error("the process was not killed")
	}
	if found, err := m.Pods(); err != nil || !cmp.Equal(found, []types.UID{"other"}) {
		t.Errorf("Pods after the pod was destroyed = %v, %v", found, err)
	}
	if err := m.DestroyPod(t.Context(), victim.UID); err != nil {
		t.Errorf("destroy again: %v", err)
	}
}

// enter moves the process to a container's cgroup below the pod's.
func enter(t *testing.T, m *Manager, podPath string, pid int) {
	t.Helper()
	for _, dir := range m.tree.dirs(filepath.Join(podPath, "container")) {
		if _, err := os.Stat(filepath.Dir(dir)); err != nil {
			continue
		}
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := cgroups.WriteCgroupProc(dir, pid); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDestroyPodGivesUpWithTheContext(t *testing.T) {
	m := newReal(t)
	p := pod("busy", container("", "", "", ""))
	if err := m.EnsurePod(p); err != nil {
		t.Fatal(err)
	}
	m.tree = spared{m.tree}
	sleep := exec.Command("sleep", "600")
	if err := sleep.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = sleep.Process.Kill()
		_ = sleep.Wait()
	}()
	enter(t, m, m.PodPath(p), sleep.Process.Pid)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := m.DestroyPod(ctx, p.UID); !errors.Is(err, context.Canceled) || !errors.Is(err, unix.EBUSY) {
		t.Errorf("DestroyPod = %v, want canceled and busy", err)
	}
}

// spared is a tree whose processes survive being killed.
type spared struct{ tree }

func (spared) kill(string) error { return nil }

func TestNewRefusesARootThatIsNotItsOwn(t *testing.T) {
	for _, root := range []string{"", "/", "berth-1", "/berth/..", "/berth-1/"} {
		if _, err := New(Config{Root: root, Logger: slog.New(slog.DiscardHandler)}); err == nil {
			t.Errorf("New with the root %q succeeded", root)
		}
	}
}

func TestNewRefusesTheSystemdDriver(t *testing.T) {
	_, err := New(Config{Root: "/berth-01234567", Driver: Systemd, Logger: slog.New(slog.DiscardHandler)})
	if err == nil || !strings.Contains(err.Error(), `"systemd" is not supported`) {
		t.Errorf("New = %v", err)
	}
}

func BenchmarkEnsurePod(b *testing.B) {
	m := newReal(b)
	for i := 0; b.Loop(); i++ {
		p := pod("bench"+strconv.Itoa(i), container("250m", "500m", "16Mi", "32Mi"))
		if err := m.EnsurePod(p); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := m.DestroyPod(b.Context(), p.UID); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
