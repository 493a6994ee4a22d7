// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package syncloop

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/podtypes"
)

func TestConfigUpdatesReachTheWorkers(t *testing.T) {
	bubble(t, func(*node) {}, func(t *testing.T, n *node) {
		pod := newPod("a", "u1", 0)
		n.say(podtypes.ADD, pod)
		n.want(t, "create u1")
		n.say(podtypes.UPDATE, pod)
		n.want(t, "reconcile u1", "update u1")
		n.say(podtypes.RECONCILE, pod)
		n.want(t, "reconcile u1")
		failed := pod.DeepCopy()
		failed.Status.Phase = corev1.PodFailed
		n.say(podtypes.RECONCILE, failed)
		n.want(t, "reconcile u1", "update u1")
		n.say(podtypes.DELETE, pod)
		n.want(t, "reconcile u1", "update u1")
		n.say(podtypes.REMOVE, pod)
		n.want(t, "kill u1")
		if len(n.Pods()) != 0 {
			t.Error("the pod is still wanted")
		}
	})
}

func TestAdditionsAreAdmittedInOrder(t *testing.T) {
	tie := func(pod *corev1.Pod, rv string) *corev1.Pod { pod.ResourceVersion = rv; return pod }
	bubble(t, func(n *node) { n.room = 3 }, func(t *testing.T, n *node) {
		n.say(podtypes.ADD,
			tie(newPod("d", "u4", 0), "10"), tie(newPod("c", "u3", 0), "9"),
			newPod("b", "u2", time.Minute), newPod("a", "u1", time.Hour), tie(newPod("e", "u5", 0), "10"))
		n.want(t, "create u1", "create u2", "create u3", "create u4 OutOfcpu", "create u5 OutOfcpu")

		// A pod that is deleted takes its room until its containers have stopped.
		deleted := newPod("a", "u1", time.Hour)
		deleted.DeletionTimestamp = &metav1.Time{}
		n.say(podtypes.DELETE, deleted)
		n.say(podtypes.ADD, newPod("f", "u6", 0))
		n.want(t, "reconcile u1", "update u1", "create u6 OutOfcpu")
		n.set(func() { n.ended.Insert("u1") })
		n.say(podtypes.ADD, newPod("g", "u7", 0), newPod("h", "u8", 0))
		n.want(t, "create u7", "create u8 OutOfcpu")

		// One whose record is gone takes none: its source has given the room away.
		n.say(podtypes.REMOVE, newPod("b", "u2", time.Minute))
		n.say(podtypes.ADD, newPod("i", "u9", 0))
		n.want(t, "kill u2", "create u9")
	})
}

func TestWhatRunsOrHasEndedIsNotAdmittedAgain(t *testing.T) {
	setUp := func(n *node) {
		n.room = 1
		n.runtime = []*podtypes.RuntimePod{runtimePod("new", "u2"), runtimePod("newer", "u3")}
	}
	bubble(t, setUp, func(t *testing.T, n *node) {
		ended, ending := newPod("ended", "u4", time.Hour), newPod("ending", "u5", time.Hour)
		ended.Status.Phase = corev1.PodSucceeded
		ending.DeletionTimestamp = &metav1.Time{}
		n.say(podtypes.ADD, newPod("old", "u1", time.Hour), newPod("new", "u2", 2), newPod("newer", "u3", 1), ended, ending)
		n.want(t, "create u2", "create u3", "create u1 OutOfcpu", "create u4", "create u5")
	})
}

func TestEventsAndWorkAreSynced(t *testing.T) {
	bubble(t, func(*node) {}, func(t *testing.T, n *node) {
		n.say(podtypes.ADD, newPod("a", "u1", 0))
		n.want(t, "create u1")
		n.events <- podtypes.Event{UID: "u1", Type: "ContainerStarted"}
		n.want(t, "resync u1")
		n.events <- podtypes.Event{UID: "u1", Type: podtypes.ContainerRemoved}
		n.want(t)
		n.events <- podtypes.Event{UID: "u1", Type: podtypes.ContainerDied}
		n.want(t, "resync u1", "containers u1 u1")
		n.events <- podtypes.Event{UID: "unwanted", Type: podtypes.ContainerDied}
		n.want(t, "resync unwanted")
		n.set(func() { n.work = []types.UID{"u1", "u2"} })
		n.due <- struct{}{}
		n.want(t, "resync u1", "resync u2")
	})
}

func TestProbesAreReportedAndSynced(t *testing.T) {
	bubble(t, func(*node) {}, func(t *testing.T, n *node) {
		n.SetPod(newPod("a", "u1", 0))
		update := func(kind podtypes.ProbeKind, result podtypes.ProbeResult) {
			n.probes <- podtypes.ProbeUpdate{UID: "u1", ContainerID: "c", Kind: kind, Result: result}
		}
		update(podtypes.Readiness, podtypes.ProbeFailure)
		n.want(t, "probed u1", "resync u1")
		update(podtypes.Startup, podtypes.ProbeSuccess)
		n.want(t, "probed u1", "resync u1")
		update(podtypes.Liveness, podtypes.ProbeFailure)
		n.want(t, "resync u1")
		update(podtypes.Liveness, podtypes.ProbeSuccess)
		n.want(t)
		n.RemovePod(newPod("a", "u1", 0))
		update(podtypes.Readiness, podtypes.ProbeFailure)
		n.want(t, "resync u1")
	})
}

func TestHousekeeping(t *testing.T) {
	setUp := func(n *node) {
		n.ready = false
		n.runtime = []*podtypes.RuntimePod{runtimePod("a", "u1"), runtimePod("z", "u9")}
	}
	bubble(t, setUp, func(t *testing.T, n *node) {
		n.say(podtypes.ADD, newPod("a", "u1", 0))
		n.want(t, "create u1")
		time.Sleep(10 * time.Second)
		n.want(t) // nothing is killed before the sources have spoken

		n.set(func() { n.ready = true; n.cleanErr = errors.New("busy") })
		time.Sleep(housekeepingPeriod)
		n.want(t, "orphan u9", "clean, keep [u1 u9]")
		time.Sleep(housekeepingPeriod)
		n.want(t, "clean, keep [u1 u9]") // it failed
		n.set(func() { n.cleanErr = nil })
		time.Sleep(housekeepingPeriod)
		n.want(t, "clean, keep [u1 u9]")
		time.Sleep(time.Minute)
		n.want(t) // nothing has changed

		n.set(func() { n.workers.Delete("u9"); n.runtime = n.runtime[:1] })
		time.Sleep(housekeepingPeriod)
		n.want(t, "clean, keep [u1]")
	})
}

func TestPodWhoseWorkerIsForgottenStartsAnew(t *testing.T) {
	bubble(t, func(n *node) { n.ready = false }, func(t *testing.T, n *node) {
		n.say(podtypes.ADD, newPod("a", "u1", 0))
		n.want(t, "create u1")
		n.set(func() { n.workers.Delete("u1") })
		time.Sleep(housekeepingPeriod)
		n.want(t, "create u1")
		time.Sleep(time.Minute)
		n.want(t)
	})
}

func TestRefusalIsForgottenWithItsPod(t *testing.T) {
	bubble(t, func(n *node) { n.room = 0 }, func(t *testing.T, n *node) {
		pod := newPod("a", "u1", 0)
		n.say(podtypes.ADD, pod)
		time.Sleep(housekeepingPeriod)
		synctest.Wait()
		if n.Verdict(pod) == nil {
			t.Fatal("forgotten while the pod is there")
		}
		n.say(podtypes.REMOVE, pod)
		synctest.Wait()
		n.set(func() { n.workers.Delete("u1") })
		time.Sleep(housekeepingPeriod)
		synctest.Wait()
		if n.Verdict(pod) != nil {
			t.Error("still there")
		}
	})
}

func TestNothingIsTakenWhileTheRuntimeHasErrors(t *testing.T) {
	bubble(t, func(n *node) { n.broken = errors.New("no listing yet") }, func(t *testing.T, n *node) {
		began := time.Now()
		time.Sleep(400 * time.Millisecond) // waits of 100, 200, and now 400 ms
		n.set(func() { n.broken = nil })
		n.say(podtypes.ADD, newPod("a", "u1", 0))
		n.want(t, "create u1")
		if got := time.Since(began); got != 700*time.Millisecond {
			t.Errorf("taken after %v, want 700 ms", got)
		}
		n.set(func() { n.broken = errors.New("runtime is away") })
		time.Sleep(time.Minute)
		if err := n.Healthy(); err != nil {
			t.Errorf("a loop that waits is no stuck one: %v", err)
		}
	})
}

func TestHealthy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode()
		if n.Healthy() == nil {
			t.Error("healthy before it runs")
		}
		n.lastLoop.set(time.Now())
		time.Sleep(stuckAfter)
		if err := n.Healthy(); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second)
		if n.Healthy() == nil {
			t.Error("healthy though it is stuck")
		}
	})
}
