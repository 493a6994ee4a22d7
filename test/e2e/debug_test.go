// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/test/internal/harness"
)

// An ephemeral container is added to a pod that runs, sees what its target does, runs
// once, and changes nothing of the rest.
func TestEphemeralContainer(t *testing.T) {
	w := shared(t)
	w.create(pod("p", shell("app", "exec sleep 987653")))
	p := w.ready("p")
	app := container(p, "app")
	look := shell("look", `ps; echo "the app's name is $(cat /proc/1/comm)"; exit 3`)
	p.Spec.EphemeralContainers = []corev1.EphemeralContainer{{
		EphemeralContainerCommon: corev1.EphemeralContainerCommon(look), TargetContainerName: "app",
	}}
	if _, err := w.Do(w.ctx(), http.MethodPut, harness.PodPath(w.ns, "p")+"/ephemeralcontainers", p, nil); err != nil {
		t.Fatal(err)
	}
	p = w.wait("p", "was looked into", func(p *corev1.Pod) bool {
		s := p.Status.EphemeralContainerStatuses
		return len(s) == 1 && s[0].State.Terminated != nil
	})
	if s := p.Status.EphemeralContainerStatuses[0]; s.Name != "look" || s.State.Terminated.ExitCode != 3 || s.RestartCount != 0 {
		t.Errorf("the ephemeral container is %+v", s)
	}
	w.waitLogOf("p", "look", "sleep 987653")
	w.waitLogOf("p", "look", "the app's name is sleep")
	for _, event := range []string{"Created: Created container look", "Started: Started container look"} {
		w.waitEvent("p", event)
	}
	// The app's end is followed by a sync, which leaves the ephemeral container be.
	w.killContainer(w.node(p), p, "app")
	p = w.wait("p", "has its app again", func(p *corev1.Pod) bool { return isReady(p) && container(p, "app").RestartCount == app.RestartCount+1 })
	if s := p.Status.EphemeralContainerStatuses[0]; s.State.Terminated == nil || s.RestartCount != 0 {
		t.Errorf("the ephemeral container is %+v", s)
	}
}
