// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// switchboard is a directory of the machine that containers see as /probe: the test
// says by its files what probes find.
type switchboard struct {
	w   *world
	dir string
}

// withSwitchboard mounts one in all of the pod's containers.
func (w *world) withSwitchboard(p *corev1.Pod) *switchboard {
	w.t.Helper()
	dir := filepath.Join(suite.Dir, w.ns, p.Name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		w.t.Fatal(err)
	}
	p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "probe", VolumeSource: corev1.VolumeSource{
		HostPath: &corev1.HostPathVolumeSource{Path: dir}}})
	for _, list := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range list {
			list[i].VolumeMounts = append(list[i].VolumeMounts, corev1.VolumeMount{Name: "probe", MountPath: "/probe"})
		}
	}
	return &switchboard{w, dir}
}

func (s *switchboard) on(name string) {
	s.w.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), nil, 0o644); err != nil {
		s.w.t.Fatal(err)
	}
}

func (s *switchboard) off(name string) {
	s.w.t.Helper()
	if err := os.Remove(filepath.Join(s.dir, name)); err != nil {
		s.w.t.Fatal(err)
	}
}

func (s *switchboard) isOn(name string) bool {
	_, err := os.Stat(filepath.Join(s.dir, name))
	return err == nil
}

// quick is a probe of the handler that is made each second and decides at once.
func quick(h corev1.ProbeHandler) *corev1.Probe {
	return &corev1.Probe{ProbeHandler: h, PeriodSeconds: 1, TimeoutSeconds: 10, FailureThreshold: 1}
}

func execs(words ...string) corev1.ProbeHandler {
	return corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: words}}
}

// idle is a container that does nothing until it is stopped.
func idle(name string) corev1.Container {
	return shell(name, `trap 'exit 0' TERM; while :; do sleep 1 & wait $!; done`)
}

func probed(c corev1.Container, readiness *corev1.Probe) corev1.Container {
	c.ReadinessProbe = readiness
	return c
}

// notReady tells whether these containers are not ready, and all others are.
func notReady(names ...string) func(*corev1.Pod) bool {
	return func(p *corev1.Pod) bool {
		not := map[string]bool{}
		for _, name := range names {
			not[name] = true
		}
		for _, s := range append(p.Status.InitContainerStatuses, p.Status.ContainerStatuses...) {
			if s.Ready == not[s.Name] {
				return false
			}
		}
		return isReady(p) == (len(names) == 0)
	}
}

func conditionOf(p *corev1.Pod, t corev1.PodConditionType) corev1.PodCondition {
	for _, c := range p.Status.Conditions {
		if c.Type == t {
			return c
		}
	}
	return corev1.PodCondition{}
}

func TestProbesByEachHandler(t *testing.T) {
	w := shared(t)
	httpd := func(name, port string) corev1.Container { return shell(name, "exec httpd -f -p "+port+" -h /probe") }
	web := probed(httpd("http", "8080"), quick(corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
		Path: "/ok", Port: intstr.FromString("web"), HTTPHeaders: []corev1.HTTPHeader{{Name: "Host", Value: "a.test"}}}}))
	web.Ports = []corev1.ContainerPort{{Name: "web", ContainerPort: 8080}}
	sidecar := probed(idle("sidecar"), quick(execs("test", "-e", "/probe/ok")))
	sidecar.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
	p := pod("p", web,
		probed(idle("exec"), quick(execs("test", "-e", "/probe/ok"))),
		probed(httpd("tcp", "8081"), quick(corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(8081)}})),
		probed(app("grpc", "health", "8082", "/probe/ok"), quick(corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 8082}})),
	)
	p.Spec.InitContainers = []corev1.Container{sidecar}
	s := w.withSwitchboard(p)
	s.on("ok")
	w.create(p)
	w.ready("p")
	s.off("ok")
	got := w.wait("p", "is ready by TCP only", notReady("sidecar", "http", "exec", "grpc"))
	if c := conditionOf(got, corev1.PodReady); c.Reason != "ContainersNotReady" || c.Message != "containers with unready status: [sidecar http exec grpc]" {
		t.Errorf("Ready: %+v", c)
	}
	w.waitEvent("p", "Unhealthy: Readiness probe failed: HTTP probe failed with statuscode: 404")
	w.waitEvent("p", `Unhealthy: Readiness probe failed: service unhealthy (responded with "NOT_SERVING")`)
	s.on("ok")
	ready := w.wait("p", "is ready again", notReady())
	for _, c := range ready.Status.ContainerStatuses {
		if c.RestartCount != 0 {
			t.Errorf("%s was restarted", c.Name)
		}
	}
}

// A pod in the node's network is reached there, and a container that takes no
// connection is told of.
func TestAProbeOfAPodInTheNodesNetwork(t *testing.T) {
	w := shared(t)
	tcp := corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(48731)}}
	p := pod("p", probed(shell("c", "exec httpd -f -p 48731 -h /tmp"), quick(tcp)))
	p.Spec.HostNetwork = true
	w.create(p)
	w.ready("p")
	w.create(pod("silent", probed(idle("c"), quick(tcp))))
	w.waitEvent("silent", "connect: connection refused")
	if isReady(w.get("silent")) {
		t.Error("a pod is Ready whose probe has failed")
	}
}

// A container that does not heed SIGTERM is restarted within its probe's threshold and
// grace, not the pod's.
func TestAFailingLivenessProbeRestartsItsContainer(t *testing.T) {
	w := shared(t)
	stubborn := shell("stubborn", `trap "" TERM; while :; do sleep 1; done`)
	stubborn.LivenessProbe = quick(execs("test", "!", "-e", "/probe/dead"))
	stubborn.LivenessProbe.FailureThreshold, stubborn.LivenessProbe.TerminationGracePeriodSeconds = 2, ptr.To(int64(1))
	p := pod("p", stubborn, idle("other"))
	p.Spec.TerminationGracePeriodSeconds = ptr.To(int64(600))
	s := w.withSwitchboard(p)
	w.create(p)
	w.ready("p")
	s.on("dead")
	w.wait("p", "has a container that is being restarted", func(p *corev1.Pod) bool { return container(p, "stubborn").RestartCount == 1 })
	s.off("dead")
	got := w.wait("p", "is Ready again", func(p *corev1.Pod) bool { return isReady(p) && container(p, "stubborn").RestartCount > 0 })
	if last := container(got, "stubborn").LastTerminationState.Terminated; last == nil || last.ExitCode != 137 {
		t.Errorf("it ended before with %+v", last)
	}
	if n := container(got, "other").RestartCount; n != 0 {
		t.Errorf("the other container was restarted %d times", n)
	}
	w.waitEvent("p", "Unhealthy: Liveness probe failed: ")
	w.waitEvent("p", "Killing: Container stubborn failed liveness probe, will be restarted")
	w.delete("p", 0)
}

func TestAStartupProbeHoldsBackTheOthers(t *testing.T) {
	w := shared(t)
	c := idle("c")
	c.StartupProbe = quick(execs("test", "-e", "/probe/started"))
	c.StartupProbe.FailureThreshold = 1000
	c.LivenessProbe = quick(execs("touch", "/probe/asked"))
	c.ReadinessProbe = quick(execs("touch", "/probe/asked"))
	p := pod("p", c)
	s := w.withSwitchboard(p)
	w.create(p)
	w.waitEvent("p", "Unhealthy: Startup probe failed: ")
	got := w.get("p")
	if cs := container(got, "c"); cs.State.Running == nil || *cs.Started || cs.Ready || isReady(got) {
		t.Errorf("before it has started: %+v", cs)
	}
	if s.isOn("asked") {
		t.Error("its other probes were made before it had started")
	}
	s.on("started")
	got = w.ready("p")
	if cs := container(got, "c"); !*cs.Started || !s.isOn("asked") {
		t.Errorf("after it has started: %+v, asked: %t", cs, s.isOn("asked"))
	}
}

func TestAFailedStartupProbeRestartsTheContainer(t *testing.T) {
	w := shared(t)
	c := idle("c")
	c.StartupProbe = quick(execs("sh", "-c", "echo not yet; false"))
	w.create(pod("p", c))
	w.wait("p", "has a container that was restarted", func(p *corev1.Pod) bool { return container(p, "c").RestartCount > 0 })
	w.waitEvent("p", "Unhealthy: Startup probe failed: not yet")
	w.waitEvent("p", "Killing: Container c failed startup probe, will be restarted")
	w.wait("p", "is held back", waitsFor("c", "CrashLoopBackOff"))
}

// Under Never a container that fails its probe ends the pod.
func TestAFailingLivenessProbeUnderNever(t *testing.T) {
	w := shared(t)
	c := idle("c")
	c.LivenessProbe = quick(execs("false"))
	p := pod("p", c)
	p.Spec.RestartPolicy = corev1.RestartPolicyNever
	w.create(p)
	got := w.wait("p", "has ended", func(p *corev1.Pod) bool {
		return p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded
	})
	if n := container(got, "c").RestartCount; n != 0 {
		t.Errorf("it was restarted %d times", n)
	}
}

// A pod that is ending is asked for its readiness until its containers have stopped.
func TestAnEndingPodTurnsUnready(t *testing.T) {
	w := shared(t)
	c := shell("c", `trap "" TERM; while :; do sleep 1; done`)
	c.ReadinessProbe = quick(execs("test", "-e", "/probe/ok"))
	c.LivenessProbe = quick(execs("test", "-e", "/probe/ok"))
	p := pod("p", c)
	s := w.withSwitchboard(p)
	s.on("ok")
	w.create(p)
	w.ready("p")
	w.delete("p", 600)
	w.wait("p", "is being deleted and still Ready", func(p *corev1.Pod) bool { return p.DeletionTimestamp != nil && isReady(p) })
	s.off("ok")
	got := w.wait("p", "is not Ready any more", func(p *corev1.Pod) bool { return !isReady(p) })
	if cs := container(got, "c"); cs.State.Running == nil {
		t.Errorf("the container has stopped: %+v", cs)
	}
	w.delete("p", 0)
	w.gone("p", testTimeout)
}

func TestReadinessTurnsOffWithinAPeriod(t *testing.T) {
	w := shared(t)
	p := pod("p", probed(idle("c"), quick(execs("test", "-e", "/probe/ok"))))
	s := w.withSwitchboard(p)
	s.on("ok")
	w.create(p)
	w.ready("p")
	h := w.record()
	s.off("ok")
	began := time.Now()
	w.eventually("a watch shows that the pod is not Ready", func() bool {
		states := h.of("p")
		return len(states) > 0 && !isReady(&states[len(states)-1])
	})
	// A period, the command, and what a busy machine adds.
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
}

func TestReadinessGates(t *testing.T) {
	w := shared(t)
	const gate = "www.example.com/feature"
	p := pod("p", idle("c"))
	p.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: gate}}
	w.create(p)
	got := w.wait("p", "has ready containers", func(p *corev1.Pod) bool {
		return conditionOf(p, corev1.ContainersReady).Status == corev1.ConditionTrue
	})
	if c := conditionOf(got, corev1.PodReady); c.Reason != "ReadinessGatesNotReady" || !strings.Contains(c.Message, "does not exist") {
		t.Errorf("Ready: %+v", c)
	}
	w.patchPod("p", "status", `{"status":{"conditions":[{"type":"`+gate+`","status":"True"}]}}`)
	w.ready("p")
	w.patchPod("p", "status", `{"status":{"conditions":[{"type":"`+gate+`","status":"False","reason":"Closed"}]}}`)
	got = w.wait("p", "is not Ready", func(p *corev1.Pod) bool { return !isReady(p) })
	if c := conditionOf(got, gate); c.Status != corev1.ConditionFalse || c.Reason != "Closed" {
		t.Errorf("the node's report has changed another's condition: %+v", c)
	}
}
