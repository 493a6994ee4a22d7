// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/store/bolt"
)

func TestSettledDecision(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	pod := func(finalizer string, grace int64) *corev1.Pod {
		pod := newPod("p", "n1")
		pod.Generation = 3
		if finalizer != "" {
			pod.Finalizers = []string{finalizer}
		}
		if grace >= 0 {
			pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = ptr.To(metav1.NewTime(now.Add(time.Minute))), &grace
		}
		return pod
	}
	const alive = -1
	for name, tc := range map[string]struct {
		decision decision
		current  *corev1.Pod
		remove   bool
		marked   bool
	}{
		"leave it":                  {decision{}, pod("", alive), false, false},
		"remove":                    {decision{remove: true}, pod("", alive), true, false},
		"remove what is held":       {decision{remove: true}, pod("a/b", alive), false, true},
		"remove, held by the write": {decision{write: pod("a/b", 30), remove: true, tell: true}, pod("", alive), false, true},
		"write":                     {decision{write: pod("", alive)}, pod("a/b", alive), false, false},
		"write what is held":        {decision{write: pod("a/b", 0)}, pod("a/b", 0), false, false},
		"empty the finalizers":      {decision{write: pod("", 0)}, pod("a/b", 0), true, false},
		"empty them within a grace": {decision{write: pod("", 30)}, pod("a/b", 30), false, false},
		"empty them of what lives":  {decision{write: pod("", alive)}, pod("a/b", alive), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := tc.decision.settled(tc.current, now)
			if d.remove != tc.remove {
				t.Errorf("remove: %t", d.remove)
			}
			if again := d.settled(tc.current, now); again != d {
				t.Errorf("settled again: %+v, not %+v", again, d)
			}
			if !tc.marked {
				return
			}
			next := d.write
			if ptr.Deref(next.GetDeletionGracePeriodSeconds(), -1) != 0 || !next.GetDeletionTimestamp().Time.Equal(now) {
				t.Errorf("it is not marked: %+v", next)
			}
			if tc.decision.write == nil && next.GetGeneration() != 4 {
				t.Errorf("generation %d", next.GetGeneration())
			}
		})
	}
}

// setFinalizers updates an object's finalizers, as a user does.
func (w *world) setFinalizers(k *api.Kind, obj api.Object, finalizers ...string) (api.Object, error) {
	w.t.Helper()
	current, err := w.Get(w.t.Context(), k, obj.GetNamespace(), obj.GetName())
	if err != nil {
		w.t.Fatal(err)
	}
	next := current.DeepCopyObject().(api.Object)
	next.SetFinalizers(finalizers)
	stored, _, err := w.Update(w.t.Context(), k, obj.GetNamespace(), obj.GetName(), next, WriteOptions{})
	return stored, err
}

func (w *world) wantGone(k *api.Kind, obj api.Object) {
	w.t.Helper()
	if current, err := w.Get(w.t.Context(), k, obj.GetNamespace(), obj.GetName()); !apierrors.IsNotFound(err) {
		w.t.Errorf("%s %s is there: %v, %v", k.Name, api.FullName(obj), current, err)
	}
}

func TestFinalizersHoldAnObject(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	c := configMap("default", "held", "v")
	c.Finalizers = []string{"example.com/a", "example.com/b"}
	w.create(api.ConfigMaps, c)
	events, err := w.Watch(t.Context(), api.ConfigMaps, "default", WatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Close()

	deleted, err := w.Delete(t.Context(), api.ConfigMaps, "default", "held", metav1.DeleteOptions{})
	if err != nil || deleted.GetDeletionTimestamp() == nil || ptr.Deref(deleted.GetDeletionGracePeriodSeconds(), -1) != 0 {
		t.Fatalf("deleted: %v, %v", deleted, err)
	}
	again, err := w.Delete(t.Context(), api.ConfigMaps, "default", "held", metav1.DeleteOptions{})
	if err != nil || again.GetResourceVersion() != deleted.GetResourceVersion() {
		t.Errorf("deleted again: %v, %v", again, err)
	}
	_, err = w.setFinalizers(api.ConfigMaps, c, "example.com/a", "example.com/b", "example.com/c")
	wantError(t, err, metav1.StatusReasonInvalid, `no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/c"}`)
	if left, err := w.setFinalizers(api.ConfigMaps, c, "example.com/b"); err != nil || len(left.GetFinalizers()) != 1 {
		t.Errorf("one is gone: %v, %v", left, err)
	}
	last, err := w.setFinalizers(api.ConfigMaps, c)
	if err != nil || len(last.GetFinalizers()) != 0 || last.GetDeletionTimestamp() == nil {
		t.Errorf("all are gone: %v, %v", last, err)
	}
	w.wantGone(api.ConfigMaps, c)
	var got []watch.EventType
	for len(got) < 4 {
		batch, err := events.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range batch {
			got = append(got, e.Type)
		}
	}
	if want := []watch.EventType{watch.Added, watch.Modified, watch.Modified, watch.Deleted}; !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
}

func TestDryRunOfTheLastFinalizer(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	c := configMap("default", "held", "v")
	c.Finalizers = []string{"example.com/a"}
	w.create(api.ConfigMaps, c)
	obj, err := w.Delete(t.Context(), api.ConfigMaps, "default", "held", metav1.DeleteOptions{DryRun: []string{"All"}})
	if err != nil || obj.GetDeletionTimestamp() == nil {
		t.Errorf("a deletion that would wait: %v, %v", obj, err)
	}
	if _, err := w.Delete(t.Context(), api.ConfigMaps, "default", "held", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	head := w.store.Head()
	next := obj.DeepCopyObject().(api.Object)
	next.SetFinalizers(nil)
	next.SetResourceVersion("")
	if _, _, err := w.Update(t.Context(), api.ConfigMaps, "default", "held", next, WriteOptions{DryRun: true}); err != nil {
		t.Error(err)
	}
	if w.store.Head() != head {
		t.Error("something was written")
	}
}

func TestFinalizersHoldAPodBeyondItsEnd(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	w.registerNode("n1")
	held := func(name, node string) *corev1.Pod {
		pod := newPod(name, node)
		pod.Finalizers = []string{"example.com/a"}
		return w.create(api.Pods, pod).(*corev1.Pod)
	}
	finish := func(pod *corev1.Pod) {
		t.Helper()
		if err := w.FinishPodDeletion(t.Context(), "n1", "default", pod.Name, pod.UID); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("the agent confirms first", func(t *testing.T) {
		pod := held("confirmed", "n1")
		if deleted := w.deletePod(pod.Name, nil); *deleted.DeletionGracePeriodSeconds != 30 {
			t.Fatalf("deleted: %+v", deleted.ObjectMeta)
		}
		finish(pod)
		left := w.pod(pod.Name)
		if *left.DeletionGracePeriodSeconds != 0 || left.DeletionTimestamp.After(w.now) {
			t.Errorf("confirmed: %+v", left.ObjectMeta)
		}
		if finish(pod); w.pod(pod.Name).ResourceVersion != left.ResourceVersion {
			t.Error("confirming again wrote something")
		}
		if _, err := w.setFinalizers(api.Pods, pod); err != nil {
			t.Fatal(err)
		}
		w.wantGone(api.Pods, pod)
	})
	t.Run("the finalizers go first", func(t *testing.T) {
		pod := held("released", "n1")
		w.deletePod(pod.Name, nil)
		if _, err := w.setFinalizers(api.Pods, pod); err != nil || w.pod(pod.Name).UID != pod.UID {
			t.Fatalf("the record went while the pod may run: %v", err)
		}
		finish(pod)
		w.wantGone(api.Pods, pod)
	})
	for name, tc := range map[string]struct {
		node  string
		grace *int64
	}{"forced": {"n1", ptr.To(int64(0))}, "unbound": {"", nil}, "lost": {"unregistered", ptr.To(int64(5))}} {
		t.Run(name, func(t *testing.T) {
			pod := held(name, tc.node)
			if left := w.deletePod(name, tc.grace); left.DeletionTimestamp == nil || *left.DeletionGracePeriodSeconds != 0 {
				t.Fatalf("deleted: %+v", left.ObjectMeta)
			}
			if _, err := w.setFinalizers(api.Pods, pod); err != nil {
				t.Fatal(err)
			}
			w.wantGone(api.Pods, pod)
		})
	}
}

func TestReviseChangesTheObjectItMeans(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	c := w.create(api.ConfigMaps, configMap("default", "c", "v"))
	revise := func(name string, uid types.UID) {
		t.Helper()
		err := w.Revise(t.Context(), api.ConfigMaps, "default", name, uid, func(obj api.Object) { obj.SetLabels(map[string]string{"a": "b"}) })
		if err != nil {
			t.Fatal(err)
		}
	}
	labelled := func() bool {
		current, err := w.Get(t.Context(), api.ConfigMaps, "default", "c")
		return err == nil && current.GetLabels()["a"] == "b"
	}
	revise("none", c.GetUID())
	if revise("c", "another"); labelled() {
		t.Error("another object was changed")
	}
	if revise("c", c.GetUID()); !labelled() || c.GetLabels() != nil {
		t.Error("it is not changed, or the shared one is")
	}
}
