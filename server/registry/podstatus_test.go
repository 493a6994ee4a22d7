// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/store/bolt"
)

func TestApplyPodStatus(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	pod := w.createPod("web", "n1")
	running := corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1"}
	report := PodStatus{Namespace: "default", Name: "web", UID: pod.UID, Status: running}

	version, err := w.ApplyPodStatus(t.Context(), "n1", report)
	if err != nil {
		t.Fatal(err)
	}
	got := w.pod("web")
	if got.ResourceVersion != version || got.Status.PodIP != "10.0.0.1" || got.Generation != pod.Generation {
		t.Errorf("version %s, got %+v", version, got)
	}
	if again, err := w.ApplyPodStatus(t.Context(), "n1", report); err != nil || again != version {
		t.Errorf("the same again: %s, %v", again, err)
	}
	_, err = w.ApplyPodStatus(t.Context(), "n2", report)
	wantError(t, err, metav1.StatusReasonForbidden, `bound to node "n1", not to "n2"`)

	report.Status.Message = "\xff"
	_, err = w.ApplyPodStatus(t.Context(), "n1", report)
	wantError(t, err, metav1.StatusReasonInvalid, "status.message: Invalid value")
}

func TestMergePodStatus(t *testing.T) {
	scheduled := corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}
	notReady := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse}
	stored := &corev1.PodStatus{Phase: corev1.PodFailed, Reason: "DeadlineExceeded", QOSClass: corev1.PodQOSBurstable,
		Conditions: []corev1.PodCondition{scheduled, {Type: corev1.PodReady, Status: corev1.ConditionTrue}}}

	got := mergePodStatus(stored, &corev1.PodStatus{Phase: corev1.PodRunning, Reason: "x", Conditions: []corev1.PodCondition{notReady}})
	if got.Phase != corev1.PodFailed || got.Reason != "DeadlineExceeded" || got.QOSClass != corev1.PodQOSBurstable {
		t.Errorf("what has ended: %+v", got)
	}
	if len(got.Conditions) != 2 || *api.PodCondition(&got, corev1.PodReady) != notReady || *api.PodCondition(&got, corev1.PodScheduled) != scheduled {
		t.Errorf("conditions: %+v", got.Conditions)
	}
	others := []corev1.PodCondition{{Type: "a.test/gone", Status: corev1.ConditionTrue}, {Type: "a.test/kept", Status: corev1.ConditionFalse}}
	stored.Conditions = append(stored.Conditions, corev1.PodCondition{Type: "a.test/kept", Status: corev1.ConditionTrue})
	got = mergePodStatus(stored, &corev1.PodStatus{Conditions: others})
	if kept := api.PodCondition(&got, "a.test/kept"); api.PodCondition(&got, "a.test/gone") != nil || kept == nil || kept.Status != corev1.ConditionTrue {
		t.Errorf("conditions of others: %+v", got.Conditions)
	}
	stored.Phase = corev1.PodRunning
	if got := mergePodStatus(stored, &corev1.PodStatus{Phase: corev1.PodSucceeded}); got.Phase != corev1.PodSucceeded || got.Reason != "" {
		t.Errorf("what ends: %+v", got)
	}
}

func TestUpdateStatusNeverLeavesATerminalPhase(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	pod := w.createPod("web", "n1")
	if err := w.report(pod, corev1.PodStatus{Phase: corev1.PodFailed}); err != nil {
		t.Fatal(err)
	}
	next := pod.DeepCopy()
	next.ResourceVersion = ""
	next.Status.Phase = corev1.PodRunning
	_, err := w.UpdateStatus(t.Context(), api.Pods, "default", "web", next, WriteOptions{})
	wantError(t, err, metav1.StatusReasonInvalid, "status.phase: Forbidden")
}

func TestBind(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	pod := w.createPod("web", "")
	bind := func(change func(*corev1.Binding)) error {
		b := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "web", Annotations: map[string]string{"why": "room"}},
			Target: corev1.ObjectReference{Kind: "Node", Name: "n1"}}
		change(b)
		return w.Bind(t.Context(), "default", b)
	}
	wantError(t, bind(func(b *corev1.Binding) { b.UID = "x" }), metav1.StatusReasonConflict, "UID in precondition: x")
	wantError(t, bind(func(b *corev1.Binding) { b.Target.Name = "" }), metav1.StatusReasonInvalid, "target.name: Required value")
	wantError(t, bind(func(b *corev1.Binding) { b.Target.Kind = "Pod" }), metav1.StatusReasonInvalid, "target.kind: Unsupported value")
	wantError(t, bind(func(b *corev1.Binding) { b.Name = "none" }), metav1.StatusReasonNotFound, `pods "none" not found`)
	wantError(t, bind(func(b *corev1.Binding) { b.Namespace = "other" }), metav1.StatusReasonBadRequest, "does not match the namespace")

	if err := bind(func(*corev1.Binding) {}); err != nil {
		t.Fatal(err)
	}
	got := w.pod("web")
	c := api.PodCondition(&got.Status, corev1.PodScheduled)
	if got.Spec.NodeName != "n1" || got.Annotations["why"] != "room" || got.Generation != pod.Generation+1 || c == nil || c.Status != corev1.ConditionTrue {
		t.Errorf("bound: %+v", got)
	}
	wantError(t, bind(func(*corev1.Binding) {}), metav1.StatusReasonConflict, `pod web is already assigned to node "n1"`)

	w.registerNode("n1")
	w.deletePod("web", nil)
	wantError(t, bind(func(*corev1.Binding) {}), metav1.StatusReasonConflict, "pod web is being deleted")
}
