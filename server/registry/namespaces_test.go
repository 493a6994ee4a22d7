// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"fmt"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/store"
	"github.com/berth-run/berth/store/bolt"
)

func (w *world) createNamespace(name string, finalizers ...string) *corev1.Namespace {
	w.t.Helper()
	return w.create(api.Namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: finalizers}}).(*corev1.Namespace)
}

func (w *world) deleteNamed(name string) (*corev1.Namespace, error) {
	obj, err := w.Delete(w.t.Context(), api.Namespaces, "", name, metav1.DeleteOptions{})
	if err != nil {
		return nil, err
	}
	return obj.(*corev1.Namespace), nil
}

func (w *world) finalize(ns *corev1.Namespace) {
	w.t.Helper()
	if err := w.FinalizeNamespace(w.t.Context(), ns.Name, ns.UID); err != nil {
		w.t.Fatal(err)
	}
}

func TestNamespaceEndsInSteps(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	ns := w.createNamespace("team", "example.com/a")
	if len(ns.Spec.Finalizers) != 1 || ns.Status.Phase != corev1.NamespaceActive {
		t.Errorf("created: %+v", ns)
	}
	w.create(api.ConfigMaps, configMap("team", "c", ""))
	ending, err := w.deleteNamed("team")
	if err != nil || ending.DeletionTimestamp == nil || ending.Status.Phase != corev1.NamespaceTerminating {
		t.Fatalf("deleted: %+v, %v", ending, err)
	}
	again, err := w.deleteNamed("team")
	if err != nil || again.ResourceVersion != ending.ResourceVersion {
		t.Errorf("deleted again: %+v, %v", again, err)
	}
	_, _, err = w.Create(t.Context(), api.Pods, newPod("x", ""), WriteOptions{Namespace: "team"})
	wantError(t, err, metav1.StatusReasonForbidden,
		`pods "x" is forbidden: unable to create new content in namespace team because it is being terminated`)
	if !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		t.Errorf("the cause is missing: %v", err)
	}
	if _, err := w.setFinalizers(api.Namespaces, ns, "example.com/a"); err != nil {
		t.Errorf("a write that changes nothing: %v", err)
	}

	w.finalize(ns)
	left, err := w.Get(t.Context(), api.Namespaces, "", "team")
	if err != nil || len(left.(*corev1.Namespace).Spec.Finalizers) > 0 {
		t.Fatalf("held by its metadata: %+v, %v", left, err)
	}
	if _, err := w.setFinalizers(api.Namespaces, ns); err != nil {
		t.Fatal(err)
	}
	w.wantGone(api.Namespaces, ns)
	w.finalize(ns) // once more

	_, err = w.deleteNamed("default")
	wantError(t, err, metav1.StatusReasonForbidden, "may not be deleted")
	_, _, err = w.Create(t.Context(), api.ConfigMaps, configMap("team", "d", ""), WriteOptions{})
	wantError(t, err, metav1.StatusReasonNotFound, `namespaces "team" not found`)
}

func TestOnlyTheDeletedNamespaceIsFinalized(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	ns := w.createNamespace("team")
	w.finalize(ns)
	if left, err := w.Get(t.Context(), api.Namespaces, "", "team"); err != nil || len(left.(*corev1.Namespace).Spec.Finalizers) != 1 {
		t.Errorf("one that nobody deletes: %+v, %v", left, err)
	}
	if _, err := w.deleteNamed("team"); err != nil {
		t.Fatal(err)
	}
	other := ns.DeepCopy()
	other.UID = "other"
	w.finalize(other)
	if _, err := w.Get(t.Context(), api.Namespaces, "", "team"); err != nil {
		t.Errorf("another of the name: %v", err)
	}
	w.finalize(ns)
	w.wantGone(api.Namespaces, ns)
}

// What earlier versions stored has no finalizer in its spec.
func TestOldNamespaceWaitsForItsContentToo(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	old := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "old", UID: "u"}}
	value, err := encode(api.Namespaces, old)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.store.Create(t.Context(), keyOf(api.Namespaces, "", "old"), value); err != nil {
		t.Fatal(err)
	}
	if ns, err := w.deleteNamed("old"); err != nil || ns.DeletionTimestamp == nil || ns.Status.Phase != corev1.NamespaceTerminating {
		t.Fatalf("deleted: %+v, %v", ns, err)
	}
	w.finalize(old)
	w.wantGone(api.Namespaces, old)
}

// No object is left in, or comes into, a namespace that was found empty after its
// deletion began.
func TestCreatorsRaceTheEndOfTheirNamespace(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	for round := range 20 {
		name := fmt.Sprintf("team-%d", round)
		ns := w.createNamespace(name)
		var creators sync.WaitGroup
		began := make(chan struct{}, 4)
		for c := range cap(began) {
			creators.Go(func() { w.createUntilRefused(name, c, began) })
		}
		for range cap(began) {
			<-began
		}
		if _, err := w.deleteNamed(name); err != nil {
			t.Fatal(err)
		}
		found := w.keysIn(name)
		for _, e := range found {
			if _, _, err := w.store.Delete(t.Context(), e.Key, store.Any); err != nil {
				t.Fatal(err)
			}
		}
		w.finalize(ns)
		creators.Wait()
		if left := w.keysIn(name); len(left) > 0 {
			t.Fatalf("round %d: %d objects were created after %d had been found", round, len(left), len(found))
		}
	}
}

func (w *world) createUntilRefused(namespace string, creator int, began chan<- struct{}) {
	for i := 0; ; i++ {
		_, _, err := w.Create(w.t.Context(), api.ConfigMaps, configMap(namespace, fmt.Sprintf("c-%d-%d", creator, i), ""), WriteOptions{})
		switch {
		case err == nil && i == 0:
			began <- struct{}{}
		case apierrors.IsForbidden(err), apierrors.IsNotFound(err):
			return
		case err != nil:
			w.t.Error(err)
			return
		}
	}
}

func (w *world) keysIn(namespace string) []store.Entry {
	w.t.Helper()
	page, err := w.store.List(w.t.Context(), prefixOf(api.ConfigMaps, namespace), store.ListOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return page.Entries
}
