// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package syncloop

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/berth-run/berth/agent/podtypes"
)

// requesting is a pod that asks for so much CPU.
func requesting(cpu string, generation int64) *corev1.Pod {
	pod := newPod("a", "u1", 0)
	pod.Generation = generation
	pod.Spec.Containers = []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)},
	}}}
	return pod
}

// cpuOf is what the workers were told that the pod has.
func (n *node) cpuOf(t *testing.T) string {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.dispatched == nil {
		t.Fatal("nothing was dispatched")
	}
	return n.dispatched.Spec.Containers[0].Resources.Requests.Cpu().String()
}

func TestResizeThatFits(t *testing.T) {
	bubble(t, func(*node) {}, func(t *testing.T, n *node) {
		n.say(podtypes.ADD, requesting("1", 1))
		n.want(t, "create u1")
		n.say(podtypes.UPDATE, requesting("2", 2))
		n.want(t, "event u1 ResizeStarted", "reconcile u1", "update u1")
		if got := n.cpuOf(t); got != "2" {
			t.Errorf("the pod has %s", got)
		}
	})
}

func TestResizeWaitsForRoom(t *testing.T) {
	bubble(t, func(n *node) { n.noResize = &podtypes.RejectError{Reason: corev1.PodReasonDeferred} }, func(t *testing.T, n *node) {
		n.say(podtypes.ADD, requesting("1", 1))
		n.say(podtypes.UPDATE, requesting("2", 2))
		n.want(t, "create u1", "event u1 ResizeDeferred", "reconcile u1", "update u1")
		if got := n.cpuOf(t); got != "1" || n.resizes.Of("u1").Pending == nil {
			t.Errorf("the pod has %s, waits for %v", got, n.resizes.Of("u1").Pending)
		}
		time.Sleep(2 * housekeepingPeriod)
		n.want(t, "clean, keep [u1]")
		n.set(func() { n.noResize = nil })
		time.Sleep(housekeepingPeriod)
		n.want(t, "event u1 ResizeStarted", "update u1", "clean, keep [u1]")
		if got := n.cpuOf(t); got != "2" || n.resizes.Of("u1").Pending != nil {
			t.Errorf("the pod has %s, waits for %v", got, n.resizes.Of("u1").Pending)
		}
	})
}

func TestResizeThatIsTakenBack(t *testing.T) {
	bubble(t, func(n *node) { n.noResize = &podtypes.RejectError{Reason: corev1.PodReasonInfeasible} }, func(t *testing.T, n *node) {
		n.say(podtypes.ADD, requesting("1", 1))
		n.say(podtypes.UPDATE, requesting("200", 2))
		n.want(t, "create u1", "event u1 ResizeInfeasible", "reconcile u1", "update u1")
		n.say(podtypes.UPDATE, requesting("1", 3))
		n.want(t, "reconcile u1", "update u1")
		if n.resizes.Of("u1").Pending != nil || n.cpuOf(t) != "1" {
			t.Error("it still waits")
		}
	})
}

// TestResizeThatWaitsAsTheAgentStarts: the pod keeps what it was allocated, by its
// status, and why it waits is not forgotten.
func TestResizeThatWaitsAsTheAgentStarts(t *testing.T) {
	bubble(t, func(n *node) {
		n.ready = false
		n.noResize = &podtypes.RejectError{Reason: corev1.PodReasonDeferred, Message: "others have it"}
	}, func(t *testing.T, n *node) {
		pod := requesting("2", 2)
		pod.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: corev1.PodReasonDeferred, Message: "others have it"}}
		one := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "c", AllocatedResources: one, Resources: &corev1.ResourceRequirements{Requests: one}}}
		n.set(func() { n.runtime = []*podtypes.RuntimePod{runtimePod("a", "u1")} })
		n.say(podtypes.ADD, pod)
		n.want(t, "create u1")
		if why := n.resizes.Of("u1").Pending; n.cpuOf(t) != "1" || why == nil || why.Message != "others have it" {
			t.Errorf("the pod has %s, waits for %v", n.cpuOf(t), why)
		}
		n.set(func() { n.noResize = nil })
		time.Sleep(housekeepingPeriod)
		n.want(t)
		n.set(func() { n.ready = true })
		time.Sleep(housekeepingPeriod)
		n.want(t, "event u1 ResizeStarted", "update u1", "clean, keep [u1]")
		if n.cpuOf(t) != "2" {
			t.Errorf("the pod has %s", n.cpuOf(t))
		}
	})
}
