// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// relistWithin is how soon an agent notices what nobody told it, and has done what
// follows.
const relistWithin = testTimeout

// What someone removes by hand while the pod is ending counts as stopped: the pod is
// gone soon, long before its grace is over, and nothing of it is left. How its
// container ended is told.
func TestB012RemovedByHandCountsAsStopped(t *testing.T) {
	w := shared(t)
	seen := w.record()
	for i := range rounds(3, 20) {
		name := fmt.Sprint("p", i)
		w.create(pod(name, app("c", "term", "50")))
		w.waitLog(name, "trapping SIGTERM")
		p := w.ready(name)
		w.delete(name, 60)
		w.waitLog(name, "got SIGTERM")
		r := w.runtime(w.node(p))
		r.removeByHand(p)
		if took := w.gone(name, relistWithin); took > 10*time.Second {
			t.Logf("%s was gone after %s", name, took)
		}
		r.clean(p.UID)
		state := container(seen.last(t, name), "c").State.Terminated
		if state == nil || state.ExitCode != 137 {
			t.Errorf("the container was last shown as %+v", container(seen.last(t, name), "c").State)
		}
		w.noWarning(name, "FailedKillPod")
	}
}

// removeByHand removes the pod's containers and then its sandboxes by force, as
// someone with crictl may, once. Of the sandbox the agent is quick to take care, as
// soon as no container is left: the two may get into each other's way there, and
// which of them fails then is chance.
func (r *runtime) removeByHand(p *corev1.Pod) {
	r.t.Helper()
	ctx := context.Background()
	for _, c := range r.containers(p.UID) {
		_, err := r.client.Runtime.RemoveContainer(ctx, &runtimeapi.RemoveContainerRequest{ContainerId: c.Id})
		if err != nil {
			r.t.Errorf("crictl rm: %v", err)
		}
	}
	for _, s := range r.sandboxes(p.UID) {
		_, err := r.client.Runtime.RemovePodSandbox(ctx, &runtimeapi.RemovePodSandboxRequest{PodSandboxId: s.Id})
		if err != nil {
			r.t.Logf("crictl rmp: %v", err)
		}
	}
}
