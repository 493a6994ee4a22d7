// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gc

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/server/registry"
	"github.com/berth-run/berth/store/bolt"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a registry over a real store with a collector.
type world struct {
	*registry.Registry
	t     *testing.T
	store *bolt.Store
}

func newWorld(t *testing.T) *world {
	t.Helper()
	s, err := bolt.Open(filepath.Join(t.TempDir(), "berth.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	w := &world{registry.New(s, registry.Options{}), t, s}
	if err := w.EnsureDefaults(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

// collect runs a collector until the test ends or stop is called.
func (w *world) collect() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = New(w.Registry, slog.New(slog.DiscardHandler)).Run(ctx)
	}()
	stop = func() { cancel(); <-done }
	w.t.Cleanup(stop)
	return stop
}

func (w *world) create(name string, change ...func(*corev1.ConfigMap)) *corev1.ConfigMap {
	w.t.Helper()
	c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	for _, f := range change {
		f(c)
	}
	obj, _, err := w.Create(w.t.Context(), api.ConfigMaps, c, registry.WriteOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return obj.(*corev1.ConfigMap)
}

func owned(owner *corev1.ConfigMap, block bool) func(*corev1.ConfigMap) {
	return func(c *corev1.ConfigMap) {
		c.OwnerReferences = append(c.OwnerReferences, metav1.OwnerReference{
			APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID, BlockOwnerDeletion: &block})
	}
}

func held(c *corev1.ConfigMap) { c.Finalizers = []string{"example.com/a"} }

func (w *world) delete(name string, policy metav1.DeletionPropagation) {
	w.t.Helper()
	_, err := w.Delete(w.t.Context(), api.ConfigMaps, "default", name, metav1.DeleteOptions{PropagationPolicy: &policy})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) get(name string) *corev1.ConfigMap {
	w.t.Helper()
	obj, err := w.Get(w.t.Context(), api.ConfigMaps, "default", name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return obj.(*corev1.ConfigMap)
}

// until waits for a condition that a write brings about.
func (w *world) until(what string, holds func() bool) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 20*time.Second)
	defer cancel()
	changes, err := w.store.Watch(ctx, "", w.store.Head())
	if err != nil {
		w.t.Fatal(err)
	}
	defer changes.Close()
	for !holds() {
		if _, err := changes.Next(ctx); err != nil {
			w.t.Fatalf("never: %s: %v", what, err)
		}
	}
}

func (w *world) untilGone(names ...string) {
	w.t.Helper()
	for _, name := range names {
		w.until(name+" is gone", func() bool { return w.get(name) == nil })
	}
}

func (w *world) release(name string) {
	w.t.Helper()
	c := w.get(name)
	err := w.Revise(w.t.Context(), api.ConfigMaps, "default", name, c.UID, func(obj api.Object) { obj.SetFinalizers(nil) })
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestGarbageGoesInTheBackground(t *testing.T) {
	w := newWorld(t)
	w.collect()
	owner := w.create("owner")
	second := w.create("second")
	child := w.create("child", owned(owner, true))
	w.create("grandchild", owned(child, false))
	w.create("shared", owned(owner, false), owned(second, false))
	w.create("other")
	w.delete("owner", metav1.DeletePropagationBackground)
	w.untilGone("child", "grandchild")
	w.until("shared has one owner", func() bool { return len(w.get("shared").OwnerReferences) == 1 })
	if w.get("other") == nil || w.get("shared").OwnerReferences[0].UID != second.UID {
		t.Error("too much was collected")
	}
}

func TestWhatWasGarbageBeforeTheStart(t *testing.T) {
	w := newWorld(t)
	stop := w.collect()
	owner := w.create("owner")
	foreground := w.create("foreground")
	stop()
	w.create("child", owned(owner, true))
	w.create("blocking", owned(foreground, true))
	w.delete("owner", metav1.DeletePropagationBackground)
	w.delete("foreground", metav1.DeletePropagationForeground)
	if w.get("child") == nil || w.get("foreground") == nil {
		t.Fatal("who collected it?")
	}
	w.collect()
	w.untilGone("child", "blocking", "foreground")
}

func TestForegroundWaitsForWhatBlocks(t *testing.T) {
	w := newWorld(t)
	w.collect()
	owner := w.create("owner")
	child := w.create("child", owned(owner, true))
	w.create("grandchild", owned(child, true), held)
	w.create("aside", owned(owner, false), held)
	w.delete("owner", metav1.DeletePropagationForeground)
	w.until("the grandchild is being deleted", func() bool { return w.get("grandchild").DeletionTimestamp != nil })
	w.until("the child waits", func() bool { return slices.Contains(w.get("child").Finalizers, "foregroundDeletion") })
	w.until("what does not block is deleted too", func() bool { return w.get("aside").DeletionTimestamp != nil })
	if w.get("owner") == nil {
		t.Fatal("the owner did not wait")
	}
	w.release("grandchild")
	w.untilGone("grandchild", "child", "owner")
	if w.get("aside") == nil {
		t.Error("the finalizer of what does not block was not heeded")
	}
}

func TestCircleEndsInTheForeground(t *testing.T) {
	w := newWorld(t)
	w.collect()
	a := w.create("a")
	b := w.create("b", owned(a, true))
	err := w.Revise(t.Context(), api.ConfigMaps, "default", "a", a.UID, func(obj api.Object) { owned(b, true)(obj.(*corev1.ConfigMap)) })
	if err != nil {
		t.Fatal(err)
	}
	w.delete("a", metav1.DeletePropagationForeground)
	w.untilGone("a", "b")
}

func TestOrphansStay(t *testing.T) {
	w := newWorld(t)
	w.collect()
	owner := w.create("owner")
	for i := range 20 {
		w.create(fmt.Sprintf("child-%d", i), owned(owner, true))
	}
	w.delete("owner", metav1.DeletePropagationOrphan)
	w.untilGone("owner")
	// As long as a collection takes.
	w.create("garbage", owned(owner, false))
	w.untilGone("garbage")
	for i := range 20 {
		if c := w.get(fmt.Sprintf("child-%d", i)); c == nil || len(c.OwnerReferences) > 0 {
			t.Fatalf("child %d: %v", i, c)
		}
	}
}

// The graph of this collector has not heard of anything.
func TestUnheardOfDependentsAreOrphanedToo(t *testing.T) {
	w := newWorld(t)
	owner := w.create("owner")
	w.create("child", owned(owner, true))
	w.delete("owner", metav1.DeletePropagationOrphan)
	c := New(w.Registry, slog.New(slog.DiscardHandler))
	if err := c.orphan(t.Context(), newObject(api.ConfigMaps, owner)); err != nil {
		t.Fatal(err)
	}
	if child := w.get("child"); w.get("owner") != nil || child == nil || len(child.OwnerReferences) > 0 {
		t.Errorf("owner %v, child %v", w.get("owner"), child)
	}
}

// What is owned by what berth does not know stays; so does, for a look at the
// place that its reference names, what is owned by UID and name of another kind.
func TestOnlyVerifiedGarbageGoes(t *testing.T) {
	w := newWorld(t)
	owner := w.create("owner")
	refer := func(version, kind, name string, uid types.UID) func(*corev1.ConfigMap) {
		return func(c *corev1.ConfigMap) {
			c.OwnerReferences = []metav1.OwnerReference{{APIVersion: version, Kind: kind, Name: name, UID: uid}}
		}
	}
	w.create("deployed", refer("apps/v1", "Deployment", "d", "u"))
	w.create("fine", owned(owner, false))
	w.create("no-such-name", refer("v1", "ConfigMap", "renamed", owner.UID))
	w.create("no-such-kind", refer("v1", "Secret", "owner", owner.UID))
	w.create("former", refer("v1", "ConfigMap", "owner", "another"))
	w.collect()
	w.untilGone("no-such-name", "no-such-kind", "former")
	if w.get("deployed") == nil || w.get("fine") == nil {
		t.Error("too much was collected")
	}
}
