// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"context"
	"os/exec"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/test/internal/harness"
)

// Exit codes of berth wait.
const (
	waitMet       = 0
	waitCompleted = 3
	waitFailed    = 4
	waitImage     = 5
	waitGone      = 7
)

// A wait for Ready ends as soon as that is impossible, and its exit code says why.
func TestB089AWaitEndsWhenReadyIsImpossible(t *testing.T) {
	w := shared(t)
	seen := w.record()
	once := func(name string, c corev1.Container) *corev1.Pod {
		p := pod(name, c)
		p.Spec.RestartPolicy = corev1.RestartPolicyNever
		return p
	}
	noImage := app("c")
	noImage.Image = "nope:1"
	initNoImage := pod("init", app("c"))
	initNoImage.Spec.InitContainers = []corev1.Container{noImage}
	initNoImage.Spec.InitContainers[0].Name = "i"
	for _, tc := range []struct {
		pod  *corev1.Pod
		code int
		text string
	}{
		{once("completes", app("c", "exit", "0")), waitCompleted, "it has succeeded"},
		{once("fails", app("c", "exit", "3")), waitFailed, "container c ended with exit code 3"},
	} {
		w.create(tc.pod)
		first := w.await(tc.pod.Name)
		w.wait(tc.pod.Name, "has ended", func(p *corev1.Pod) bool { return api.IsTerminal(p) })
		// One that ends at once may have been Ready for a moment, but then that was shown.
		if first.code != tc.code && (first.code != waitMet || !seen.ready(w.ctx(), tc.pod.Name)) {
			t.Errorf("%s: %+v, want exit code %d", tc.pod.Name, first, tc.code)
		}
		if again := w.await(tc.pod.Name); again.code != tc.code || !strings.Contains(again.err, tc.text) {
			t.Errorf("%s, which has ended: %+v, want exit code %d and %q", tc.pod.Name, again, tc.code, tc.text)
		}
	}
	for _, p := range []*corev1.Pod{pod("image", noImage), initNoImage} {
		w.create(p)
		if got := w.await(p.Name); got.code != waitImage || !strings.Contains(got.err, "ErrImagePull: ") {
			t.Errorf("%s: %+v, want exit code %d", p.Name, got, waitImage)
		}
	}
}

// ready tells whether a pod was ever shown Ready, once it was shown to have ended.
func (h *history) ready(ctx context.Context, name string) bool {
	var states []corev1.Pod
	ended := func(p corev1.Pod) bool { return api.IsTerminal(&p) }
	err := harness.Poll(ctx, "pod "+name+" was shown to have ended", func() (bool, error) {
		states = h.of(name)
		return slices.ContainsFunc(states, ended), nil
	})
	return err == nil && slices.ContainsFunc(states, func(p corev1.Pod) bool { return isReady(&p) })
}

func (w *world) await(name string) outcome {
	return w.berth(w.ctx(), "", "wait", "pod/"+name, "--timeout", "35s")
}

// A wait is for the pod that there was: one of its name that takes its place is another,
// even if it is Ready.
func TestB089AWaitIsForOnePod(t *testing.T) {
	w := shared(t)
	labels := map[string]string{"wait": "yes"}
	there, p := pod("there", app("c")), pod("p", app("c"))
	p.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "E", ValueFrom: &corev1.EnvVarSource{
		SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "none"}, Key: "k"}}}}
	there.Labels, p.Labels = labels, labels
	w.create(there)
	w.create(p)
	w.ready("there")

	c := exec.CommandContext(w.ctx(), suite.Berth, "wait", "pods", "-l", "wait=yes", "--timeout", "35s", "--server", w.GRPC, "-n", w.ns)
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	// Both pods were read at once, so now the other one is waited for too.
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "pod/there condition met\n" {
		t.Fatalf("%q, %v", line, err)
	}
	w.delete("p", 0)
	w.gone("p", testTimeout)
	w.create(pod("p", app("c")))
	w.ready("p")
	if _ = c.Wait(); c.ProcessState.ExitCode() != waitGone {
		t.Errorf("%s, want exit code %d", c.ProcessState, waitGone)
	}
}
