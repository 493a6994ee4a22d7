// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/berth-run/berth/agent/podtypes"
)

func newPod(name string, uid types.UID, change ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: uid}}
	for _, c := range change {
		c(pod)
	}
	return pod
}

func deleted(grace int64) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.DeletionTimestamp = &metav1.Time{}
		pod.DeletionGracePeriodSeconds = &grace
	}
}

func TestDiff(t *testing.T) {
	tests := map[string]struct {
		held, said *corev1.Pod
		want       podtypes.Op
	}{
		"same":       {newPod("a", "1"), newPod("a", "1"), 0},
		"spec":       {newPod("a", "1"), newPod("a", "1", func(p *corev1.Pod) { p.Spec.NodeName = "n" }), podtypes.UPDATE},
		"label":      {newPod("a", "1"), newPod("a", "1", func(p *corev1.Pod) { p.Labels = map[string]string{"a": "b"} }), podtypes.UPDATE},
		"annotation": {newPod("a", "1"), newPod("a", "1", func(p *corev1.Pod) { p.Annotations = map[string]string{"a": "b"} }), podtypes.UPDATE},
		"status":     {newPod("a", "1"), newPod("a", "1", func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning }), podtypes.RECONCILE},
		"spec and status": {newPod("a", "1"), newPod("a", "1", func(p *corev1.Pod) {
			p.Status.Phase = corev1.PodRunning
			p.Spec.NodeName = "n"
		}), podtypes.UPDATE},
		"empty for nil": {newPod("a", "1"), newPod("a", "1", func(p *corev1.Pod) { p.Labels = map[string]string{} }), 0},
		"counters": {newPod("a", "1"), newPod("a", "1", func(p *corev1.Pod) {
			p.ResourceVersion, p.Generation = "7", 7
			p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
		}), 0},
		"deletion": {newPod("a", "1"), newPod("a", "1", deleted(30)), podtypes.DELETE},
		"deletion and spec": {newPod("a", "1"), newPod("a", "1", deleted(30), func(p *corev1.Pod) { p.Spec.NodeName = "n" }),
			podtypes.DELETE},
		"shorter grace":       {newPod("a", "1", deleted(30)), newPod("a", "1", deleted(1)), podtypes.DELETE},
		"label of a dying":    {newPod("a", "1", deleted(1)), newPod("a", "1", deleted(1), func(p *corev1.Pod) { p.Labels = map[string]string{"a": "b"} }), podtypes.UPDATE},
		"deletion taken back": {newPod("a", "1", deleted(30)), newPod("a", "1"), podtypes.UPDATE},
	}
	for name, test := range tests {
		if got := diff(test.held, test.said); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func say(op podtypes.Op, source string, pods ...*corev1.Pod) podtypes.PodUpdate {
	return podtypes.PodUpdate{Op: op, Source: source, Pods: pods}
}

// told prints changes such as "ADD server a/1".
func told(changed []podtypes.PodUpdate) []string {
	got := []string{}
	for _, u := range changed {
		for _, pod := range u.Pods {
			got = append(got, fmt.Sprintf("%s %s %s/%s", u.Op, u.Source, pod.Name, pod.UID))
		}
	}
	return got
}

func TestMerge(t *testing.T) {
	running := func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning }
	bound := func(p *corev1.Pod) { p.Spec.NodeName = "n" }
	tests := map[string]struct {
		before  []podtypes.PodUpdate
		say     podtypes.PodUpdate
		want    []string
		refused int
	}{
		"a set that is new": {nil, say(podtypes.SET, "s", newPod("a", "1"), newPod("b", "2")),
			[]string{"ADD s a/1", "ADD s b/2"}, 0},
		"the op is a hint": {nil, say(podtypes.DELETE, "s", newPod("a", "1")), []string{"ADD s a/1"}, 0},
		"an add of what is held": {
			[]podtypes.PodUpdate{say(podtypes.ADD, "s", newPod("a", "1"))},
			say(podtypes.ADD, "s", newPod("a", "1")), []string{}, 0},
		"an add of what has changed": {
			[]podtypes.PodUpdate{say(podtypes.ADD, "s", newPod("a", "1"))},
			say(podtypes.ADD, "s", newPod("a", "1", bound)), []string{"UPDATE s a/1"}, 0},
		"a set with every kind of change, in order": {
			[]podtypes.PodUpdate{say(podtypes.SET, "s", newPod("a", "1"), newPod("b", "2"), newPod("c", "3"), newPod("d", "4"), newPod("e", "5"))},
			say(podtypes.SET, "s", newPod("a", "1", running), newPod("b", "2", deleted(1)), newPod("c", "3", bound), newPod("e", "5"), newPod("f", "6")),
			[]string{"REMOVE s d/4", "ADD s f/6", "UPDATE s c/3", "DELETE s b/2", "RECONCILE s a/1"}, 0},
		"another UID": {
			[]podtypes.PodUpdate{say(podtypes.ADD, "s", newPod("a", "1"))},
			say(podtypes.UPDATE, "s", newPod("a", "2")), []string{"REMOVE s a/1", "ADD s a/2"}, 0},
		"a late remove of what was replaced": {
			[]podtypes.PodUpdate{say(podtypes.ADD, "s", newPod("a", "2"))},
			say(podtypes.REMOVE, "s", newPod("a", "1")), []string{}, 0},
		"a remove of what is unknown": {nil, say(podtypes.REMOVE, "s", newPod("a", "1")), []string{}, 0},
		"a name that another source has": {
			[]podtypes.PodUpdate{say(podtypes.ADD, "s", newPod("a", "1"))},
			say(podtypes.SET, "f", newPod("a", "9"), newPod("b", "8")), []string{"ADD f b/8"}, 1},
		"said again": {
			[]podtypes.PodUpdate{say(podtypes.ADD, "s", newPod("a", "1")), say(podtypes.SET, "f", newPod("a", "9"))},
			say(podtypes.SET, "f", newPod("a", "9")), []string{}, 0},
		"the first source lets go of the name": {
			[]podtypes.PodUpdate{say(podtypes.ADD, "s", newPod("a", "1")), say(podtypes.ADD, "f", newPod("a", "9"))},
			say(podtypes.REMOVE, "s", newPod("a", "1")), []string{"REMOVE s a/1", "ADD f a/9"}, 0},
		"the second one does": {
			[]podtypes.PodUpdate{say(podtypes.ADD, "s", newPod("a", "1")), say(podtypes.ADD, "f", newPod("a", "9"))},
			say(podtypes.SET, "f"), []string{}, 0},
		"a set is that of its source alone": {
			[]podtypes.PodUpdate{say(podtypes.ADD, "s", newPod("a", "1"))},
			say(podtypes.SET, "f"), []string{}, 0},
		"one name twice in a set": {nil, say(podtypes.SET, "f", newPod("a", "1"), newPod("a", "2")), []string{"ADD f a/1"}, 1},
		"what names no pod":       {nil, say(podtypes.SET, "f", nil, newPod("", "1"), newPod("a", "")), []string{}, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStorage()
			s.declare("s")
			s.declare("f")
			mergeAll(t, s, test.before, test.say, test.want, test.refused)
		})
	}
}

func TestRemoveCarriesTheLastGrace(t *testing.T) {
	s := newStorage()
	s.declare("s")
	held := newPod("a", "1", func(p *corev1.Pod) { p.Spec.NodeName = "n" })
	s.merge(say(podtypes.ADD, "s", held))
	changed, _ := s.merge(say(podtypes.REMOVE, "s", newPod("a", "1", deleted(0))))
	pod := changed[0].Pods[0]
	if pod.Spec.NodeName != "n" || pod.DeletionGracePeriodSeconds == nil || *pod.DeletionGracePeriodSeconds != 0 {
		t.Errorf("removed %+v", pod)
	}
	if held.DeletionGracePeriodSeconds != nil {
		t.Error("the held pod was changed")
	}
}

// Whatever the sources say: what the changes add up to is what the sources hold,
// one pod per name.
func TestChangesAddUpToWhatIsHeld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newStorage()
		s.declare("s")
		s.declare("f")
		node := map[types.UID]string{} // UID to name: what the changes left on the node
		pod := rapid.Custom(func(t *rapid.T) *corev1.Pod {
			i := rapid.IntRange(0, 7).Draw(t, "i")
			return newPod(fmt.Sprint("p", i%4), types.UID(fmt.Sprint(i)))
		})
		for range rapid.IntRange(1, 30).Draw(t, "updates") {
			changed, _ := s.merge(podtypes.PodUpdate{
				Op:     rapid.SampledFrom([]podtypes.Op{podtypes.SET, podtypes.ADD, podtypes.REMOVE}).Draw(t, "op"),
				Source: rapid.SampledFrom([]string{"s", "f"}).Draw(t, "source"),
				Pods:   rapid.SliceOfN(pod, 0, 4).Draw(t, "pods"),
			})
			for _, u := range changed.inOrder() {
				for _, p := range u.Pods {
					if _, has := node[p.UID]; has != (u.Op == podtypes.REMOVE) {
						t.Fatalf("%s of %s, on the node: %v", u.Op, p.UID, has)
					}
					if u.Op == podtypes.REMOVE {
						delete(node, p.UID)
					} else {
						node[p.UID] = p.Name
					}
				}
			}
			names := map[string]bool{}
			for _, name := range node {
				if names[name] {
					t.Fatalf("two pods of the name %s", name)
				}
				names[name] = true
			}
			for _, source := range s.order {
				for name := range s.held[source] {
					if !names[name[len("default/"):]] {
						t.Fatalf("%s is held but not on the node", name)
					}
				}
			}
			if len(names) != len(s.owner) {
				t.Fatalf("%d names on the node, %d owned", len(names), len(s.owner))
			}
		}
	})
}

// mergeAll merges what was said before, and checks what comes of what is said then.
func mergeAll(t *testing.T, s *storage, before []podtypes.PodUpdate, say podtypes.PodUpdate, want []string, refusals int) {
	t.Helper()
	for _, u := range before {
		s.merge(u)
	}
	changed, refused := s.merge(say)
	if got := told(changed.inOrder()); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(refused) != refusals {
		t.Errorf("%d refused, want %d", len(refused), refusals)
	}
}
