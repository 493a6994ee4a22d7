// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package syncloop

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/agent/podtypes"
)

// namesake has the runtime run another pod of the name a, and one of the name b.
func namesake(n *node) {
	n.runtime = []*podtypes.RuntimePod{runtimePod("a", "u1"), runtimePod("b", "u9")}
}

// unready has it so before the sources have spoken.
func unready(n *node) {
	namesake(n)
	n.ready = false
}

func TestNamesakeInTheRuntimeIsEndedFirst(t *testing.T) {
	bubble(t, namesake, func(t *testing.T, n *node) {
		n.say(podtypes.ADD, newPod("a", "u2", 0))
		n.want(t, "orphan u1", "create u2")
	})
}

// What no source has named yet may be a pod of another store, which the node keeps.
func TestPodWaitsForItsNameUntilTheSourcesHaveSpoken(t *testing.T) {
	bubble(t, unready, func(t *testing.T, n *node) {
		n.say(podtypes.ADD, newPod("a", "u2", 0))
		n.say(podtypes.UPDATE, newPod("a", "u2", 0))
		n.want(t)
		time.Sleep(time.Minute)
		n.want(t, "event u2 FailedValidation") // and not a second time

		n.set(func() { n.ready = true })
		time.Sleep(housekeepingPeriod)
		n.want(t, "orphan u1", "create u2", "orphan u9", "clean, keep [u1 u2 u9]")
		n.say(podtypes.UPDATE, newPod("a", "u2", 0))
		n.want(t, "reconcile u2", "update u2")
	})
}

func TestPodDoesNotWaitForANameThatIsFree(t *testing.T) {
	bubble(t, unready, func(t *testing.T, n *node) {
		n.say(podtypes.ADD, newPod("a", "u2", 0))
		n.set(func() { n.runtime = n.runtime[1:] })
		time.Sleep(housekeepingPeriod)
		n.want(t, "create u2")
	})
}

// One that ends is waited for by the worker.
func TestPodDoesNotWaitForANameThatIsLetGo(t *testing.T) {
	bubble(t, unready, func(t *testing.T, n *node) {
		n.set(func() { n.workers.Insert("u1") })
		n.say(podtypes.ADD, newPod("a", "u2", 0))
		n.want(t, "create u2")
	})
}

// Its end is reported, though it never began.
func TestPodThatWaitsForItsNameIsDeleted(t *testing.T) {
	bubble(t, unready, func(t *testing.T, n *node) {
		n.say(podtypes.ADD, newPod("a", "u2", 0))
		ending := newPod("a", "u2", 0)
		ending.DeletionTimestamp = &metav1.Time{}
		n.say(podtypes.DELETE, ending)
		n.want(t, "reconcile u2", "update u2")
		n.say(podtypes.REMOVE, ending)
		n.want(t, "kill u2")
	})
}
