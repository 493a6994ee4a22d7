// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/store/bolt"
)

func (w *world) priorityClass(name string, value int32, change func(*schedulingv1.PriorityClass)) {
	w.t.Helper()
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value}
	if change != nil {
		change(class)
	}
	w.create(api.PriorityClasses, class)
}

// refused wants a new pod to be refused with those words.
func (w *world) refused(words string, change func(*corev1.PodSpec)) {
	w.t.Helper()
	pod := newPod("refused", "")
	change(&pod.Spec)
	_, _, err := w.Create(w.t.Context(), api.Pods, pod, WriteOptions{})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), words) {
		w.t.Errorf("got %v, want a refusal with %q", err, words)
	}
}

func (w *world) createWith(name string, change func(*corev1.PodSpec)) *corev1.PodSpec {
	w.t.Helper()
	pod := newPod(name, "")
	change(&pod.Spec)
	return &w.create(api.Pods, pod).(*corev1.Pod).Spec
}

func TestPriorityOfNewPods(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	w.priorityClass("high", 1000, func(c *schedulingv1.PriorityClass) { c.PreemptionPolicy = ptr.To(corev1.PreemptNever) })
	want := func(spec *corev1.PodSpec, class string, priority int32, policy corev1.PreemptionPolicy) {
		t.Helper()
		if spec.PriorityClassName != class || *spec.Priority != priority || *spec.PreemptionPolicy != policy {
			t.Errorf("class %q, priority %d, policy %s; want %q, %d, %s",
				spec.PriorityClassName, *spec.Priority, *spec.PreemptionPolicy, class, priority, policy)
		}
	}
	want(w.createWith("none", func(*corev1.PodSpec) {}), "", 0, corev1.PreemptLowerPriority)
	want(w.createWith("zero", func(s *corev1.PodSpec) {
		s.Priority, s.PreemptionPolicy = ptr.To(int32(0)), ptr.To(corev1.PreemptNever)
	}), "", 0, corev1.PreemptNever)
	want(w.createWith("high", func(s *corev1.PodSpec) { s.PriorityClassName, s.Priority = "high", ptr.To(int32(1000)) }), "high", 1000, corev1.PreemptNever)
	want(w.createWith("critical", func(s *corev1.PodSpec) { s.PriorityClassName = "system-node-critical" }), "system-node-critical", 2000001000, corev1.PreemptLowerPriority)

	w.refused("no PriorityClass with name absent was found", func(s *corev1.PodSpec) { s.PriorityClassName = "absent" })
	w.refused("the integer value of priority (7) must not be provided in pod spec; priority admission controller computed 1000 from the given PriorityClass name",
		func(s *corev1.PodSpec) { s.PriorityClassName, s.Priority = "high", ptr.To(int32(7)) })
	w.refused("the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided",
		func(s *corev1.PodSpec) {
			s.PriorityClassName, s.PreemptionPolicy = "high", ptr.To(corev1.PreemptLowerPriority)
		})

	w.priorityClass("usual", 50, func(c *schedulingv1.PriorityClass) { c.GlobalDefault = true })
	want(w.createWith("usual", func(*corev1.PodSpec) {}), "usual", 50, corev1.PreemptLowerPriority)
	_, _, err := w.Create(t.Context(), api.PriorityClasses, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "second"}, GlobalDefault: true}, WriteOptions{})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "PriorityClass usual is already marked as default") {
		t.Errorf("a second default: %v", err)
	}
	changed := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 1000, GlobalDefault: true, PreemptionPolicy: ptr.To(corev1.PreemptNever)}
	_, _, err = w.Update(t.Context(), api.PriorityClasses, "", "high", changed, WriteOptions{})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "PriorityClass usual is already marked as default") {
		t.Errorf("a second default by an update: %v", err)
	}
}

// The manifest that a pod was created from can be sent again.
func TestClassesAreKeptByAnUpdate(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	w.priorityClass("usual", 50, func(c *schedulingv1.PriorityClass) { c.GlobalDefault = true })
	w.createPod("web", "")
	updated, _, err := w.Update(t.Context(), api.Pods, "default", "web", newPod("web", ""), WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if spec := updated.(*corev1.Pod).Spec; spec.PriorityClassName != "usual" || *spec.Priority != 50 {
		t.Errorf("class %q, priority %v", spec.PriorityClassName, spec.Priority)
	}
}

func TestSystemPriorityClassesStay(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	_, err := w.Delete(t.Context(), api.PriorityClasses, "", "system-node-critical", metav1.DeleteOptions{})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "this is a system priority class and cannot be deleted") {
		t.Errorf("got %v", err)
	}
}

func TestRuntimeClassOfNewPods(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	memory := func(s string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(s)}
	}
	toleration := corev1.Toleration{Key: "vm", Operator: corev1.TolerationOpExists}
	w.create(api.RuntimeClasses, &nodev1.RuntimeClass{
		ObjectMeta: metav1.ObjectMeta{Name: "vm"}, Handler: "kata", Overhead: &nodev1.Overhead{PodFixed: memory("64Mi")},
		Scheduling: &nodev1.Scheduling{NodeSelector: map[string]string{"vm": "yes"}, Tolerations: []corev1.Toleration{toleration}},
	})
	w.create(api.RuntimeClasses, &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "plain"}, Handler: "runc"})

	spec := w.createWith("vm", func(s *corev1.PodSpec) {
		s.RuntimeClassName, s.NodeSelector, s.Tolerations = ptr.To("vm"), map[string]string{"disk": "ssd"}, []corev1.Toleration{toleration}
	})
	if spec.Overhead.Memory().String() != "64Mi" || len(spec.NodeSelector) != 2 || spec.NodeSelector["vm"] != "yes" || len(spec.Tolerations) != 1 {
		t.Errorf("overhead %v, selector %v, tolerations %v", spec.Overhead, spec.NodeSelector, spec.Tolerations)
	}
	if spec := w.createWith("plain", func(s *corev1.PodSpec) { s.RuntimeClassName = ptr.To("plain") }); spec.Overhead != nil || spec.NodeSelector != nil {
		t.Errorf("of a class without: overhead %v, selector %v", spec.Overhead, spec.NodeSelector)
	}
	w.refused(`pod rejected: RuntimeClass "absent" not found`, func(s *corev1.PodSpec) { s.RuntimeClassName = ptr.To("absent") })
	w.refused("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead", func(s *corev1.PodSpec) { s.Overhead = memory("1Mi") })
	w.refused("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
		func(s *corev1.PodSpec) { s.RuntimeClassName, s.Overhead = ptr.To("vm"), memory("1Mi") })
	w.refused("pod rejected: conflict: runtimeClass.scheduling.nodeSelector[vm] = yes; pod.spec.nodeSelector[vm] = no",
		func(s *corev1.PodSpec) {
			s.RuntimeClassName, s.NodeSelector = ptr.To("vm"), map[string]string{"vm": "no"}
		})
}
