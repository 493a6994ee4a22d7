// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// After a restart of the agent what probes have said holds until they say otherwise: a
// pod that was Ready is, one that was not is not, and nothing starts anew.
func TestB052B053ReadinessOutlivesTheAgent(t *testing.T) {
	w := own(t, 1)
	slow := idle("c")
	slow.ReadinessProbe = &corev1.Probe{ProbeHandler: execs("sleep", "2"), PeriodSeconds: 10, TimeoutSeconds: 30}
	slow.StartupProbe = &corev1.Probe{ProbeHandler: execs("true"), InitialDelaySeconds: 3, PeriodSeconds: 1, TimeoutSeconds: 30}
	never := idle("c")
	never.ReadinessProbe = quick(execs("false"))
	w.create(pod("slow", slow))
	w.create(pod("never", never))
	w.ready("slow")
	w.waitEvent("never", "Readiness probe failed")
	h := w.record()
	for range rounds(3, 10) {
		if err := w.Nodes[0].Kill(); err != nil {
			t.Fatal(err)
		}
		if err := w.Nodes[0].Start(); err != nil {
			t.Fatal(err)
		}
		if err := w.Nodes[0].WaitHealthy(w.ctx()); err != nil {
			t.Fatal(err)
		}
		settle(t, 3*time.Second)
	}
	for _, p := range h.of("slow") {
		if c := container(&p, "c"); !isReady(&p) || !c.Ready || !*c.Started {
			t.Errorf("the pod that was Ready was shown as %+v, %+v", p.Status.Conditions, c)
		}
	}
	for _, p := range h.of("never") {
		if isReady(&p) || container(&p, "c").Ready {
			t.Errorf("the pod that was not Ready was shown as %+v", p.Status.Conditions)
		}
	}
	if n := container(w.get("slow"), "c").RestartCount + container(w.get("never"), "c").RestartCount; n != 0 {
		t.Errorf("containers were restarted %d times", n)
	}
}

// A command that takes too long is ended with all that it has started.
func TestB055ATimedOutCommandLeavesNoProcess(t *testing.T) {
	w := shared(t)
	alone, forks := idle("alone"), idle("forks")
	alone.ReadinessProbe = &corev1.Probe{ProbeHandler: execs("sh", "-c", "sleep 7200"), PeriodSeconds: 1, TimeoutSeconds: 1}
	forks.ReadinessProbe = &corev1.Probe{ProbeHandler: execs("sh", "-c", "sleep 7200; true"), PeriodSeconds: 1, TimeoutSeconds: 1}
	w.create(pod("p", alone, forks))
	want := rounds(5, 50)
	timeouts := func(container string) int {
		return w.countEvents("p", "spec.containers{"+container+"}", "command timed out")
	}
	w.eventually("the probes have timed out often", func() bool {
		return timeouts("alone") >= want && timeouts("forks") >= want
	})
	p := w.get("p")
	for _, name := range []string{"alone", "forks"} {
		// A shell, and what it has started.
		if alive := commandsIn(t, container(p, name).ContainerID, "7200"); len(alive) > 2 {
			t.Errorf("%s: %d processes of its probe are alive: %v", name, len(alive), alive)
		}
	}
}

// commandsIn are the processes of a container that have the text in their command line.
func commandsIn(t *testing.T, containerID, text string) (pids []string) {
	t.Helper()
	_, id, _ := strings.Cut(containerID, "://")
	if id == "" {
		t.Fatalf("%q is no container's id", containerID)
	}
	for _, dir := range match(t, "/proc/[0-9]*") {
		cgroup, _ := os.ReadFile(filepath.Join(dir, "cgroup"))
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		if bytes.Contains(cgroup, []byte(id)) && bytes.Contains(line, []byte(text)) {
			pids = append(pids, filepath.Base(dir))
		}
	}
	return pids
}

// A command that does not answer in time has failed.
func TestB056ATimedOutLivenessProbeRestartsTheContainer(t *testing.T) {
	w := shared(t)
	c := idle("c")
	c.LivenessProbe = &corev1.Probe{ProbeHandler: execs("sleep", "9"), PeriodSeconds: 4, TimeoutSeconds: 3, FailureThreshold: 2}
	w.create(pod("p", c))
	w.wait("p", "has a container that was restarted", func(p *corev1.Pod) bool { return container(p, "c").RestartCount > 0 })
	w.waitEvent("p", `Unhealthy: Liveness probe failed: command timed out: "sleep 9" timed out after 3s`)
}
