// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/opencontainers/cgroups"
	corev1 "k8s.io/api/core/v1"
)

// limits are what the files of a cgroup say; 0 is no limit.
type limits struct {
	// shares of the CPU, as version 1 counts.
	shares uint64
	// milliCPU that it may use.
	milliCPU int64
	memory   int64
}

func (l limits) String() string {
	return fmt.Sprintf("%d shares, %dm cpu, %d bytes", l.shares, l.milliCPU, l.memory)
}

// podCgroup is the path of the pod's cgroup below the mounts of cgroups.
func (w *world) podCgroup(p *corev1.Pod) string {
	class := map[corev1.PodQOSClass]string{corev1.PodQOSBurstable: "burstable", corev1.PodQOSBestEffort: "besteffort"}[p.Status.QOSClass]
	return filepath.Join("berth-"+w.node(p).ID, class, "pod"+string(p.UID))
}

// containerCgroup is that of the container which runs now.
func (w *world) containerCgroup(p *corev1.Pod, name string) string {
	_, id, _ := strings.Cut(container(p, name).ContainerID, "://")
	return filepath.Join(w.podCgroup(p), id)
}

// want fails unless the cgroup has the limits. Version 2 has coarser weights.
func (l limits) want(t *testing.T, path string) {
	t.Helper()
	if cgroups.IsCgroup2UnifiedMode() {
		l.wantV2(t, path)
		return
	}
	quota, memory := number(t, "cpu", path, "cpu.cfs_quota_us"), number(t, "memory", path, "memory.limit_in_bytes")
	got := limits{
		shares:   uint64(number(t, "cpu", path, "cpu.shares")),
		milliCPU: max(quota, 0) / 100,
		memory:   memory,
	}
	if memory > 1<<60 { // as version 1 says that there is none
		got.memory = 0
	}
	if got != l {
		t.Errorf("cgroup %s has %s, want %s", path, got, l)
	}
}

func (l limits) wantV2(t *testing.T, path string) {
	t.Helper()
	orMax := func(n int64) string {
		if n == 0 {
			return "max"
		}
		return strconv.FormatInt(n, 10)
	}
	for file, want := range map[string]string{
		"cpu.weight": strconv.FormatUint(cgroups.ConvertCPUSharesToCgroupV2Value(l.shares), 10),
		"cpu.max":    orMax(l.milliCPU*100) + " 100000",
		"memory.max": orMax(l.memory),
	} {
		if got := cgroupFile(t, "", path, file); got != want {
			t.Errorf("%s of cgroup %s is %s, want %s", file, path, got, want)
		}
	}
}

func number(t *testing.T, controller, path, file string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(cgroupFile(t, controller, path, file), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func cgroupFile(t *testing.T, controller, path, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/sys/fs/cgroup", controller, path, file))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// mayProtect tells whether programs of this machine may be less in the way of the OOM
// killer than usual, which takes a capability that containers seldom have.
func mayProtect(t *testing.T) bool {
	t.Helper()
	const own = "/proc/self/oom_score_adj"
	before, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	if os.WriteFile(own, []byte("-1"), 0) != nil {
		return false
	}
	if err := os.WriteFile(own, before, 0); err != nil {
		t.Fatal(err)
	}
	return true
}

// oomScoreAdj is that of the first process in a cgroup.
func oomScoreAdj(t *testing.T, path string) string {
	t.Helper()
	controller := "memory"
	if cgroups.IsCgroup2UnifiedMode() {
		controller = ""
	}
	pid, _, _ := strings.Cut(cgroupFile(t, controller, path, "cgroup.procs"), "\n")
	text, err := os.ReadFile("/proc/" + pid + "/oom_score_adj")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}
