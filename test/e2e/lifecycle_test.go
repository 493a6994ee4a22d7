// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/test/internal/harness"
)

func TestAChangedImageReplacesThatContainerAlone(t *testing.T) {
	w := shared(t)
	w.create(pod("p", app("changed", "serve", "80"), app("kept")))
	before := w.ready("p")
	changed := before.DeepCopy()
	changed.Spec.Containers[0].Image = image("app:2")
	if _, err := w.Do(w.ctx(), http.MethodPut, harness.PodPath(w.ns, "p"), changed, nil); err != nil {
		t.Fatal(err)
	}
	after := w.wait("p", "runs the new image", func(p *corev1.Pod) bool {
		return isReady(p) && container(p, "changed").Image == image("app:2")
	})
	if version := w.page(after, "/env?name=VERSION"); version != "2" {
		t.Errorf("version %q runs", version)
	}
	if after.Status.PodIP != before.Status.PodIP {
		t.Errorf("the address went from %s to %s", before.Status.PodIP, after.Status.PodIP)
	}
	if was, is := container(before, "kept"), container(after, "kept"); was.ContainerID != is.ContainerID || is.RestartCount != 0 {
		t.Errorf("the other container went from %s to %s", was.ContainerID, is.ContainerID)
	}
	if was, is := container(before, "changed"), container(after, "changed"); was.ContainerID == is.ContainerID || is.RestartCount != 1 {
		t.Errorf("the changed container went from %s to %s, restarts %d", was.ContainerID, is.ContainerID, is.RestartCount)
	}
}

// The first restart is at once; the second comes after 10 s.
func TestACrashLoopBacksOff(t *testing.T) {
	w := shared(t)
	w.create(pod("p", app("c", "crash", "100")))
	waiting := w.wait("p", "backs off", waitsFor("c", "CrashLoopBackOff"))
	s := container(waiting, "c")
	if s.RestartCount != 1 || !strings.Contains(s.State.Waiting.Message, "10s") || waiting.Status.Phase != corev1.PodRunning {
		t.Errorf("phase %s, restarts %d: %s", waiting.Status.Phase, s.RestartCount, s.State.Waiting.Message)
	}
	ended := s.LastTerminationState.Terminated
	if ended == nil || ended.ExitCode != 1 {
		t.Fatalf("last state %+v", s.LastTerminationState)
	}
	if log, err := w.Text(w.ctx(), harness.PodPath(w.ns, "p")+"/log?previous=true"); err != nil || log != "crashing\n" {
		t.Errorf("the log of the last run is %q, %v", log, err)
	}
	again := w.wait("p", "was started a third time", func(p *corev1.Pod) bool { return container(p, "c").RestartCount == 2 })
	if last := container(again, "c").LastTerminationState.Terminated; last != nil {
		if d := last.StartedAt.Sub(ended.FinishedAt.Time); last.StartedAt.After(ended.StartedAt.Time) && d < 9*time.Second {
			t.Errorf("it was started again after %s", d)
		}
	}
	w.wait("p", "backs off for longer", func(p *corev1.Pod) bool {
		return waitsFor("c", "CrashLoopBackOff")(p) && strings.Contains(container(p, "c").State.Waiting.Message, "20s")
	})
}

func TestRestartPoliciesEndInTheRightPhase(t *testing.T) {
	for _, c := range []struct {
		name     string
		policy   corev1.RestartPolicy
		args     []string
		phase    corev1.PodPhase
		restarts int32
	}{
		{"never and success", corev1.RestartPolicyNever, []string{"exit", "0"}, corev1.PodSucceeded, 0},
		{"never and failure", corev1.RestartPolicyNever, []string{"exit", "3"}, corev1.PodFailed, 0},
		{"on failure and success", corev1.RestartPolicyOnFailure, []string{"exit", "0"}, corev1.PodSucceeded, 0},
		{"on failure and failure", corev1.RestartPolicyOnFailure, []string{"exit", "3"}, corev1.PodRunning, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := shared(t)
			p := pod("p", app("c", c.args...))
			p.Spec.RestartPolicy = c.policy
			w.create(p)
			got := w.wait("p", "ends as "+string(c.phase), func(p *corev1.Pod) bool {
				return p.Status.Phase == c.phase && container(p, "c").RestartCount == c.restarts
			})
			if got.Status.Phase != corev1.PodRunning && isReady(got) {
				t.Error("it is Ready")
			}
		})
	}
}

func TestInitContainersRunInOrder(t *testing.T) {
	w := shared(t)
	p := pod("p", app("c", "serve", "80"))
	p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	mount := []corev1.VolumeMount{{Name: "v", MountPath: "/v"}}
	p.Spec.Containers[0].VolumeMounts = mount
	for _, name := range []string{"one", "two", "three"} {
		c := app(name, "append", "/v/order", name)
		c.VolumeMounts = mount
		p.Spec.InitContainers = append(p.Spec.InitContainers, c)
	}
	w.create(p)
	if order := w.page(w.ready("p"), "/file?path=/v/order"); order != "one\ntwo\nthree\n" {
		t.Errorf("order: %q", order)
	}
}

func TestAFailedInitContainerFailsAPodThatNeverRestarts(t *testing.T) {
	w := shared(t)
	p := pod("p", app("c"))
	p.Spec.RestartPolicy = corev1.RestartPolicyNever
	p.Spec.InitContainers = []corev1.Container{app("bad", "exit", "7"), app("after", "exit", "0")}
	w.create(p)
	got := w.wait("p", "fails", inPhase(corev1.PodFailed))
	if s := container(got, "bad").State.Terminated; s == nil || s.ExitCode != 7 {
		t.Errorf("init container: %+v", container(got, "bad"))
	}
	for _, name := range []string{"after", "c"} {
		if s := container(got, name); s.ContainerID != "" {
			t.Errorf("%s ran: %+v", name, s)
		}
	}
}

func TestDeleteWaitsForSIGTERMWithinTheGrace(t *testing.T) {
	w := shared(t)
	w.create(pod("p", app("c", "term", "2")))
	w.ready("p")
	w.waitLog("p", "trapping SIGTERM")
	w.delete("p", 20)
	if p := w.get("p"); p.DeletionTimestamp == nil || p.Status.Phase != corev1.PodRunning {
		t.Errorf("it is in phase %s, deletion at %v", p.Status.Phase, p.DeletionTimestamp)
	}
	if took := w.gone("p", testTimeout); took < 1500*time.Millisecond {
		t.Errorf("it was gone after %s", took)
	}
}

func TestDeleteKillsAfterTheGrace(t *testing.T) {
	w := shared(t)
	w.create(pod("p", app("c", "ignore")))
	w.waitLog("p", "ignoring SIGTERM")
	w.delete("p", 2)
	if took := w.gone("p", testTimeout); took < 1500*time.Millisecond {
		t.Errorf("it was gone after %s", took)
	}
}

// A phase that a user has made terminal is not left for a lie: the node ends the pod.
func TestAPodThatIsDeclaredFailedEnds(t *testing.T) {
	w := shared(t)
	w.create(pod("p", app("c")))
	p := w.ready("p")
	p.Status.Phase, p.Status.Reason = corev1.PodFailed, "Fenced"
	if _, err := w.Do(w.ctx(), http.MethodPut, harness.PodPath(w.ns, "p")+"/status", p, nil); err != nil {
		t.Fatal(err)
	}
	p = w.wait("p", "has ended", func(p *corev1.Pod) bool { return container(p, "c").State.Terminated != nil })
	if p.Status.Phase != corev1.PodFailed || p.Status.Reason != "Fenced" {
		t.Errorf("the phase is %s, reason %q", p.Status.Phase, p.Status.Reason)
	}
}
