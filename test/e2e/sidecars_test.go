// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/utils/ptr"
)

// sidecar makes of a container one that runs beside the regular ones.
func sidecar(c corev1.Container) corev1.Container {
	c.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
	return c
}

func execProbe(script string) *corev1.Probe {
	return &corev1.Probe{PeriodSeconds: 1, FailureThreshold: 60, ProbeHandler: corev1.ProbeHandler{
		Exec: &corev1.ExecAction{Command: []string{"sh", "-c", script}}}}
}

// A sidecar is up before what comes after it, and is stopped after it; the pod is done
// when its regular containers are.
func TestSidecarsSurroundTheApp(t *testing.T) {
	w := shared(t)
	p := pod("p", shell("app", "echo app >> /d/log"))
	p.Spec.RestartPolicy = corev1.RestartPolicyNever
	first := sidecar(shell("first", "sleep 1; echo first-up >> /d/log; touch /tmp/up; "+untilTerm("echo first-down >> /d/log")))
	first.StartupProbe = execProbe("test -e /tmp/up")
	p.Spec.InitContainers = []corev1.Container{
		first, shell("init", "echo init >> /d/log"), sidecar(shell("last", untilTerm("echo last-down >> /d/log"))),
	}
	notes := w.withNotebook(p)
	w.create(p)
	p = w.wait("p", "succeeds", inPhase(corev1.PodSucceeded))
	notes.want(t, "first-up", "init", "app", "last-down", "first-down")
	for _, name := range []string{"first", "last"} {
		if s := container(p, name); s.State.Terminated == nil || s.RestartCount != 0 {
			t.Errorf("%s is %+v", name, s)
		}
	}
}

// Under every policy a sidecar that ends is started again, and the app is not.
func TestASidecarThatEndsIsStartedAgain(t *testing.T) {
	w := shared(t)
	p := pod("p", shell("app", "exec sleep 3600"))
	p.Spec.RestartPolicy = corev1.RestartPolicyNever
	p.Spec.InitContainers = []corev1.Container{sidecar(shell("side", "test -e /d/once && exec sleep 3600; touch /d/once"))}
	w.withNotebook(p)
	w.create(p)
	p = w.wait("p", "has its sidecar again", func(p *corev1.Pod) bool { return isReady(p) && container(p, "side").RestartCount == 1 })
	if s := container(p, "app"); s.RestartCount != 0 || p.Status.Phase != corev1.PodRunning {
		t.Errorf("the pod is %s, its app %+v", p.Status.Phase, s)
	}
}

func TestB026PrunedInitContainersAreNotRunAgain(t *testing.T) {
	w := shared(t)
	p := pod("p", shell("app", "exec sleep 3600"), shell("other", "exec sleep 3600"))
	p.Spec.InitContainers = []corev1.Container{shell("one", "echo one >> /d/log"), shell("two", "echo two >> /d/log")}
	notes := w.withNotebook(p)
	w.create(p)
	before := w.ready("p")
	r := w.runtime(w.node(before))
	for _, c := range r.containers(before.UID) {
		if c.State != runtimeapi.ContainerState_CONTAINER_EXITED {
			continue
		}
		if _, err := r.client.Runtime.RemoveContainer(context.Background(), &runtimeapi.RemoveContainerRequest{ContainerId: c.Id}); err != nil {
			t.Fatal(err)
		}
	}
	w.killContainer(w.node(before), before, "other") // a sync that has to decide
	after := w.wait("p", "has its other container again", func(p *corev1.Pod) bool { return isReady(p) && container(p, "other").RestartCount == 1 })
	notes.want(t, "one", "two")
	if was, is := container(before, "app"), container(after, "app"); was.ContainerID != is.ContainerID || is.RestartCount != 0 {
		t.Errorf("the app went from %+v to %+v", was, is)
	}
	for _, name := range []string{"one", "two"} {
		if s := container(after, name).State.Terminated; s == nil || s.Reason != "Completed" {
			t.Errorf("%s is %+v", name, container(after, name))
		}
	}
}

func TestB029AppsThatCrashBesideASidecarAreRestarted(t *testing.T) {
	w := own(t, 1)
	side := sidecar(shell("side", "exec sleep 3600"))
	side.StartupProbe = execProbe("true")
	p := pod("p", shell("app", "sleep 5; exit 1"))
	p.Spec.InitContainers = []corev1.Container{side}
	w.create(p)
	before := w.ready("p")
	agent := w.Nodes[0].Process
	if err := agent.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	after := w.waitFor(2*testTimeout, "p", "is restarted, and held back", func(p *corev1.Pod) bool {
		return container(p, "app").RestartCount >= 1 && waitsFor("app", "CrashLoopBackOff")(p)
	})
	if was, is := container(before, "side"), container(after, "side"); was.ContainerID != is.ContainerID || is.RestartCount != 0 {
		t.Errorf("the sidecar went from %+v to %+v", was, is)
	}
}

func TestB030ASidecarThatNeverStartedHoldsNothingUp(t *testing.T) {
	w := shared(t)
	p := pod("p", shell("app", "exec sleep 3600"))
	never := sidecar(shell("one", untilTerm("echo one-down >> /d/log")))
	never.StartupProbe = execProbe("false")
	p.Spec.InitContainers = []corev1.Container{never, sidecar(shell("two", "exec sleep 3600"))}
	notes := w.withNotebook(p)
	w.create(p)
	w.wait("p", "has its first sidecar", func(p *corev1.Pod) bool {
		s := container(p, "one")
		return s.State.Running != nil && (s.Started == nil || !*s.Started)
	})
	w.delete("p", 5)
	if took := w.gone("p", testTimeout); took > 5*time.Second {
		t.Errorf("it took %s to end", took)
	}
	notes.want(t, "one-down")
}

func TestRestartRulesOfContainers(t *testing.T) {
	w := shared(t)
	p := pod("p", shell("job", "test -e /d/once && exit 7; touch /d/once; exit 42"), shell("other", "exit 0"))
	p.Spec.RestartPolicy = corev1.RestartPolicyAlways
	p.Spec.Containers[1].RestartPolicy = ptr.To(corev1.ContainerRestartPolicyOnFailure)
	p.Spec.Containers[0].RestartPolicy = ptr.To(corev1.ContainerRestartPolicyNever)
	p.Spec.Containers[0].RestartPolicyRules = []corev1.ContainerRestartRule{{
		Action:    corev1.ContainerRestartRuleActionRestart,
		ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: corev1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{42}},
	}}
	w.withNotebook(p)
	w.create(p)
	p = w.wait("p", "has failed", inPhase(corev1.PodFailed))
	if s := container(p, "job"); s.RestartCount != 1 || s.State.Terminated.ExitCode != 7 {
		t.Errorf("the job is %+v", s)
	}
	if s := container(p, "other"); s.RestartCount != 0 {
		t.Errorf("the other is %+v", s)
	}
}
