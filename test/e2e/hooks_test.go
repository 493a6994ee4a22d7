// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// notebook is a file that a pod's containers write to at /d/log, and that outlives the
// pod.
type notebook struct{ dir string }

// withNotebook mounts a notebook into all containers of the pod.
func (w *world) withNotebook(p *corev1.Pod) *notebook {
	w.t.Helper()
	n := &notebook{w.t.TempDir()}
	p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "notebook", VolumeSource: corev1.VolumeSource{
		HostPath: &corev1.HostPathVolumeSource{Path: n.dir}}})
	for _, list := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range list {
			list[i].VolumeMounts = append(list[i].VolumeMounts, corev1.VolumeMount{Name: "notebook", MountPath: "/d"})
		}
	}
	return n
}

func (n *notebook) lines(t *testing.T) []string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(n.dir, "log"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Fields(string(content))
}

func (n *notebook) want(t *testing.T, lines ...string) {
	t.Helper()
	if got := n.lines(t); !slices.Equal(got, lines) {
		t.Errorf("noted %q, want %q", got, lines)
	}
}

// untilTerm runs until SIGTERM comes, and then does what is to be done last.
func untilTerm(last string) string {
	return "trap '" + last + "; exit 0' TERM; while :; do sleep 3600 & wait; done"
}

func execHook(script string) *corev1.LifecycleHandler {
	return &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"sh", "-c", script}}}
}

func TestHooksRunInTheirOrder(t *testing.T) {
	w := shared(t)
	p := pod("p", shell("first", untilTerm("echo first-ends >> /d/log")), shell("second", "echo second >> /d/log; exec sleep 3600"),
		app("web", "serve", "80"), app("asked"))
	p.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{
		PostStart: execHook("sleep 0.2; echo postStart >> /d/log"), PreStop: execHook("echo preStop >> /d/log"),
	}
	p.Spec.Containers[2].Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: 80}}
	// A hook speaks to the pod's address, where another container may listen.
	p.Spec.Containers[3].Lifecycle = &corev1.Lifecycle{
		PostStart: &corev1.LifecycleHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(80)}},
		PreStop:   &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 1}},
	}
	p.Spec.TerminationGracePeriodSeconds = ptr.To(int64(20))
	p.Spec.Containers[1].Lifecycle = &corev1.Lifecycle{StopSignal: ptr.To(corev1.SIGKILL)}
	p.Spec.OS = &corev1.PodOS{Name: corev1.Linux}
	notes := w.withNotebook(p)
	w.create(p)
	p = w.ready("p")
	notes.want(t, "postStart", "second")
	if s := container(p, "second").StopSignal; s == nil || *s != corev1.SIGKILL {
		t.Errorf("the stop signal of second is %v", s)
	}
	w.delete("p", -1)
	if took := w.gone("p", testTimeout); took < time.Second || took > 15*time.Second {
		t.Errorf("it took %s to end", took)
	}
	notes.want(t, "postStart", "second", "preStop", "first-ends")
}

func TestAPostStartHookThatFails(t *testing.T) {
	w := shared(t)
	p := pod("p", shell("c", "exec sleep 3600"))
	p.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PostStart: execHook("echo cannot; exit 3")}
	p.Spec.TerminationGracePeriodSeconds = ptr.To(int64(1))
	w.create(p)
	p = w.wait("p", "waits for its hook", waitsFor("c", "PostStartHookError"))
	if s := container(p, "c"); s.LastTerminationState.Terminated == nil || s.Ready {
		t.Errorf("the container is %+v", s)
	}
	w.waitEvent("p", "FailedPostStartHook: The postStart hook of container c failed: command \"sh -c echo cannot; exit 3\" exited with 3: cannot")
}

func TestB019AHookThatIsCutOffLeavesAnEvent(t *testing.T) {
	w := shared(t)
	p := pod("p", shell("c", untilTerm("true")))
	p.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: execHook("sleep 30")}
	p.Spec.TerminationGracePeriodSeconds = ptr.To(int64(3))
	w.create(p)
	w.ready("p")
	w.delete("p", -1)
	if took := w.gone("p", testTimeout); took < 2500*time.Millisecond || took > 15*time.Second {
		t.Errorf("it took %s to end", took)
	}
	w.waitEvent("p", "FailedPreStopHook: The preStop hook of container c ran out of time: it was cut off after the grace period of 3s")
}
