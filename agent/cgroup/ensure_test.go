// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// The kernel lets cgroups without processes be removed while the agent runs. The next
// pod needs what is above it, with its figures.
func TestEnsurePodRemakesWhatIsAbove(t *testing.T) {
	for name, controller := range map[string]string{
		"in all hierarchies": "", "in that of memory only": "memory", "in that of CPUs only": "cpu",
	} {
		t.Run(name, func(t *testing.T) {
			m := newReal(t)
			if err := m.UpdateQOS([]*corev1.Pod{pod("runs", container("750m", "", "", ""))}); err != nil {
				t.Fatal(err)
			}
			removeByHand(t, m, m.root, controller)
			for _, p := range []*corev1.Pod{
				pod("b", container("250m", "500m", "16Mi", "32Mi")),
				pod("e", container("", "", "", "")),
				pod("g", container("500m", "500m", "64Mi", "64Mi")),
			} {
				if err := m.EnsurePod(p); err != nil {
					t.Fatal(err)
				}
			}
			for path, want := range map[string]uint64{
				"": uint64(runtime.NumCPU()) * 1024, "burstable": 768, "besteffort": 2,
				"burstable/podb": 256, "besteffort/pode": 2, "podg": 512,
			} {
				checkShares(t, m, m.root+"/"+path, want)
			}
			checkMemory(t, m, m.root+"/burstable/podb", 32<<20)
		})
	}
}

// Before its sandbox starts a pod's cgroup has no processes either. The runtime then
// makes it anew, with the kernel's figures; the pod's next sync gives it its own.
func TestEnsurePodRemakesThePodsOwn(t *testing.T) {
	p := pod("p", container("250m", "500m", "16Mi", "32Mi"))
	for name, remade := range map[string]bool{"that is gone": false, "that the runtime has made": true} {
		for _, controller := range []string{"", "memory", "cpu"} {
			t.Run(strings.TrimSpace(name+" "+controller), func(t *testing.T) {
				m := newReal(t)
				if err := m.EnsurePod(p); err != nil {
					t.Fatal(err)
				}
				removed := removeByHand(t, m, m.root, controller)
				if remade {
					for _, dir := range removed {
						if err := os.MkdirAll(filepath.Join(dir, "burstable", "podp"), 0o755); err != nil {
							t.Fatal(err)
						}
					}
				}
				if err := m.EnsurePod(p); err != nil {
					t.Fatal(err)
				}
				checkShares(t, m, m.PodPath(p), 256)
				checkMemory(t, m, m.PodPath(p), 32<<20)
			})
		}
	}
}

func TestUpdateQOSRemakesTheClasses(t *testing.T) {
	m := newReal(t)
	removeByHand(t, m, m.root, "")
	if err := m.UpdateQOS([]*corev1.Pod{pod("b", container("1", "", "", ""))}); err != nil {
		t.Fatal(err)
	}
	checkShares(t, m, m.root+"/burstable", 1024)
}

// removeByHand removes a cgroup and all below it, in the hierarchy of one controller
// or, if that is empty, in all. Version 2 has only one.
func removeByHand(t *testing.T, m *Manager, path, controller string) (removed []string) {
	t.Helper()
	for _, dir := range m.tree.dirs(path) {
		if Detect() == V1 && controller != "" && !strings.HasPrefix(dir, filepath.Join(DefaultMount, controller)+"/") {
			continue
		}
		if err := removeTree(dir); err != nil {
			t.Fatal(err)
		}
		removed = append(removed, dir)
	}
	return removed
}

func checkShares(t *testing.T, m *Manager, path string, want uint64) {
	t.Helper()
	figure := strconv.FormatUint(want, 10)
	if Detect() == V2 {
		figure = cgroupWeight(want)
	}
	if got := read(t, m, path, "cpu.shares", "cpu.weight"); got != figure {
		t.Errorf("%s weighs %s, want %s", path, got, figure)
	}
}

func checkMemory(t *testing.T, m *Manager, path string, want int) {
	t.Helper()
	if got := read(t, m, path, "memory.limit_in_bytes", "memory.max"); got != strconv.Itoa(want) {
		t.Errorf("%s is bound to %s bytes, want %d", path, got, want)
	}
}
