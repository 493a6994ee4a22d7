// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Many probes on an agent that gets half a processor: none fails that has no reason to,
// and few sockets are kept of the many that were used.
func TestB058ProbesOfABusyAgent(t *testing.T) {
	w := own(t, 1)
	pods := rounds(20, 100)
	get := corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromInt32(80)}}
	for i := range pods {
		c := app("c", "serve", "80")
		for _, p := range []**corev1.Probe{&c.StartupProbe, &c.LivenessProbe, &c.ReadinessProbe} {
			*p = &corev1.Probe{ProbeHandler: get, PeriodSeconds: 1, TimeoutSeconds: 1, FailureThreshold: 3}
		}
		// A third probe that does not end with the start.
		side := app("side", "sleep")
		side.ReadinessProbe = c.ReadinessProbe
		w.create(pod(fmt.Sprint("p", i), c, side))
	}
	addresses := map[string]bool{}
	for i := range pods {
		p := w.waitFor(time.Duration(pods)*5*time.Second+testTimeout, fmt.Sprint("p", i), "is Ready", isReady)
		addresses[p.Status.PodIP] = true
	}
	agent := w.Nodes[0].PID()
	limitCPU(t, agent, 50)
	settle(t, 2*time.Second)
	failed, cpu, began := w.countEvents("", "", "Unhealthy"), cpuOf(t, agent), time.Now()
	settle(t, time.Duration(rounds(15, 600))*time.Second)
	took := time.Since(began)
	failed = w.countEvents("", "", "Unhealthy") - failed
	waiting := timeWait(t, addresses)
	t.Logf("%d pods with 3 probes a second for %s: %d false failures, %d sockets in TIME_WAIT, agent's CPU %.2f",
		pods, took.Round(time.Second), failed, waiting, float64(cpuOf(t, agent)-cpu)/float64(took))
	if failed > 0 {
		t.Errorf("%d probes of healthy containers have failed", failed)
	}
	if most := pods; waiting > most {
		t.Errorf("%d sockets of probes are in TIME_WAIT, want %d at most", waiting, most)
	}
}

// limitCPU lets a process have so many hundredths of a processor until the test ends.
func limitCPU(t *testing.T, pid, percent int) {
	t.Helper()
	dir, file, quota := "/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", fmt.Sprint(percent*1000)
	if _, err := os.Stat(dir); err != nil {
		dir, file, quota = "/sys/fs/cgroup", "cpu.max", fmt.Sprint(percent*1000, " 100000")
	}
	home := cgroupOf(t, pid)
	group := filepath.Join(dir, fmt.Sprint("berth-test-", pid))
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Fatal(err)
	}
	move := func(dir string) error {
		return os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(fmt.Sprint(pid)), 0)
	}
	t.Cleanup(func() {
		_ = move(filepath.Join(dir, home)) // it may have ended
		if err := os.Remove(group); err != nil {
			t.Error(err)
		}
	})
	err := os.WriteFile(filepath.Join(group, file), []byte(quota), 0)
	if err == nil {
		err = move(group)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// cgroupOf is the cgroup of the process, in the hierarchy that limits processors.
func cgroupOf(t *testing.T, pid int) string {
	t.Helper()
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		t.Fatal(err)
	}
	unified := "/"
	for line := range strings.Lines(string(content)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case slices.Contains(strings.Split(fields[1], ","), "cpu"):
			return fields[2]
		case fields[1] == "":
			unified = fields[2]
		}
	}
	return unified
}

// cpuOf is the processor time that the process has used.
func cpuOf(t *testing.T, pid int) time.Duration {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	var ticks int
	for _, f := range fields[11:13] { // utime, stime
		n, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / 100
}

// timeWait counts the node's sockets in TIME_WAIT that led to the addresses.
func timeWait(t *testing.T, addresses map[string]bool) int {
	t.Helper()
	content, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		t.Fatal(err)
	}
	const timeWait = "06"
	n := 0
	for line := range strings.Lines(string(content)) {
		fields := strings.Fields(line)
		if len(fields) < 4 || fields[3] != timeWait {
			continue
		}
		address, _, _ := strings.Cut(fields[2], ":")
		if raw, err := hex.DecodeString(address); err == nil && len(raw) == net.IPv4len {
			slices.Reverse(raw)
			if addresses[net.IP(raw).String()] {
				n++
			}
		}
	}
	return n
}
