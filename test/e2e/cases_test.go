// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/cri/fault"
	"github.com/berth-run/berth/test/internal/harness"
)

// rounds is how often a test repeats its case: few times, or all with
// BERTH_SOAK.
func rounds(few, all int) int {
	if soak {
		return all
	}
	return few
}

// A pod whose container cannot be started is deleted like any other.
func TestB011APodThatNeverStartsCanBeDeleted(t *testing.T) {
	w := shared(t)
	c := app("c")
	c.Command = []string{"/does/not/exist"}
	created := w.create(pod("p", c))
	p := w.wait("p", "failed to start", func(p *corev1.Pod) bool {
		s := container(p, "c")
		return waitsFor("c", "RunContainerError")(p) || waitsFor("c", "CrashLoopBackOff")(p) || s.RestartCount > 0
	})
	w.delete("p", 5)
	w.gone("p", testTimeout)
	w.runtime(w.node(p)).clean(created.UID)
}

// Deleting a pod in mid-pull ends the pull, and no container of it ever starts.
func TestB015DeleteDuringAPullEndsThePull(t *testing.T) {
	w := shared(t)
	door := registry.Throttled(10 << 10)
	w.allow(door.Host)
	c := app("c")
	c.Image = door.Host + "/slow:1"
	w.create(onNode(pod("p", c), "node1"))
	err := harness.Poll(w.ctx(), "the image is being pulled", func() (bool, error) { return door.Active() > 0, nil })
	if err != nil {
		t.Fatal(err)
	}
	p := w.get("p")
	r := w.runtime(w.node(p))
	starts := r.watchStarts()
	settle(t, 5*time.Second)
	w.delete("p", 0)
	w.gone("p", testTimeout)
	r.clean(p.UID)
	if err := harness.Poll(w.ctx(), "the pull has ended", func() (bool, error) { return door.Active() == 0, nil }); err != nil {
		t.Error(err)
	}
	w.fence(starts, "node1")
	if found := starts.of(p.UID); len(found) > 0 {
		t.Errorf("a container came after all: %v", found)
	}
}

// settle lets time pass that the case itself names.
func settle(t *testing.T, d time.Duration) {
	select {
	case <-t.Context().Done():
	case <-time.After(d):
	}
}

// The deadline counts from the pod's start, whatever the agent goes through, and
// the pod fails only when nothing of it runs.
func TestB022TheDeadlineOutlivesTheAgent(t *testing.T) {
	w := own(t, 1)
	p := pod("p", app("c"))
	deadline := int64(5)
	p.Spec.ActiveDeadlineSeconds = &deadline
	p.Spec.RestartPolicy = corev1.RestartPolicyNever
	w.create(p)
	started := w.ready("p").Status.StartTime.Time
	settle(t, time.Until(started.Add(3*time.Second)))
	node := w.Nodes[0]
	if err := node.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	r := w.runtime(node)
	failed := w.wait("p", "fails", inPhase(corev1.PodFailed))
	for _, c := range r.containers(failed.UID) {
		if c.State.String() == "CONTAINER_RUNNING" {
			t.Error("the pod failed while its container runs")
		}
	}
	// Stored times have whole seconds.
	if took := time.Since(started); took < 5*time.Second {
		t.Errorf("it failed %s after its start", took)
	}
	if failed.Status.Reason != "DeadlineExceeded" || !failed.Status.StartTime.Time.Equal(started) {
		t.Errorf("reason %q, start %s, was %s", failed.Status.Reason, failed.Status.StartTime, started)
	}
}

// A name that is taken again at once shows nothing of the pod before.
func TestB023ASuccessorShowsNothingOfItsPredecessor(t *testing.T) {
	w := shared(t)
	named := func(i int) *corev1.Pod {
		c := app("c")
		c.Env = []corev1.EnvVar{{Name: "I", Value: fmt.Sprint(i)}}
		return pod("p", c)
	}
	w.create(named(0))
	for i := range rounds(20, 200) {
		before := w.ready("p")
		w.delete("p", 0)
		var created *corev1.Pod
		err := harness.Poll(w.ctx(), "the name is free", func() (bool, error) {
			created = &corev1.Pod{}
			_, err := w.Do(w.ctx(), http.MethodPost, harness.PodPath(w.ns, ""), named(i+1), created)
			return err == nil, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		p := w.get("p")
		if p.UID != created.UID || p.UID == before.UID {
			t.Fatalf("round %d: UID %s, created %s, before %s", i, p.UID, created.UID, before.UID)
		}
		if s := p.Status; s.Phase != corev1.PodPending || s.PodIP != "" || container(p, "c").ContainerID != "" {
			t.Fatalf("round %d: the new pod has status %+v", i, s)
		}
		ready := w.ready("p")
		if id := container(ready, "c").ContainerID; id == container(before, "c").ContainerID || ready.UID != created.UID {
			t.Fatalf("round %d: container %s of UID %s", i, id, ready.UID)
		}
	}
}

// One failed start of an init container does not hold the pod up for ever.
func TestB031AFailedStartOfAnInitContainerIsTriedAgain(t *testing.T) {
	w := own(t, 1)
	_, script := w.faultyNode()
	script.Add(fault.Rule{Method: "StartContainer", Times: 1, Code: codes.Unavailable})
	p := pod("p", app("c", "serve", "80"))
	p.Spec.InitContainers = []corev1.Container{app("init", "exit", "0")}
	w.create(onNode(p, "faulty"))
	got := w.ready("p")
	if s := container(got, "init").State.Terminated; s == nil || s.ExitCode != 0 {
		t.Errorf("init container: %+v", container(got, "init"))
	}
	w.delete("p", 1)
	w.gone("p", testTimeout)
}
