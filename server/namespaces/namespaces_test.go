// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package namespaces

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/server/registry"
	"github.com/berth-run/berth/store"
	"github.com/berth-run/berth/store/bolt"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a registry over a real store, with a node.
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
	w.create(api.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}})
	return w
}

// run runs a controller over reg until the test ends or stop is called.
func (w *world) run(reg Registry) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = New(reg, slog.New(slog.DiscardHandler)).Run(ctx)
	}()
	stop = func() { cancel(); <-done }
	w.t.Cleanup(stop)
	return stop
}

func (w *world) create(k *api.Kind, obj api.Object) api.Object {
	w.t.Helper()
	stored, _, err := w.Create(w.t.Context(), k, obj, registry.WriteOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return stored
}

func (w *world) createSpace(name string, finalizers ...string) {
	w.t.Helper()
	w.create(api.Namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: finalizers}})
}

func (w *world) createPod(namespace, name string) *corev1.Pod {
	w.t.Helper()
	return w.create(api.Pods, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}).(*corev1.Pod)
}

func configMap(namespace, name string, finalizers ...string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Finalizers: finalizers}}
}

func (w *world) delete(k *api.Kind, namespace, name string) {
	w.t.Helper()
	if _, err := w.Delete(w.t.Context(), k, namespace, name, metav1.DeleteOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) exists(k *api.Kind, namespace, name string) bool {
	w.t.Helper()
	_, err := w.Get(w.t.Context(), k, namespace, name)
	if err != nil && !apierrors.IsNotFound(err) {
		w.t.Fatal(err)
	}
	return err == nil
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

func (w *world) untilGone(namespace string) {
	w.t.Helper()
	w.until(namespace+" is gone", func() bool { return !w.exists(api.Namespaces, "", namespace) })
	if left := w.keysIn(namespace); len(left) > 0 {
		w.t.Errorf("left behind: %q", left)
	}
}

func (w *world) keysIn(namespace string) (keys []string) {
	w.t.Helper()
	page, err := w.store.List(w.t.Context(), "", store.ListOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range page.Entries {
		if strings.Contains(e.Key, "/"+namespace+"/") {
			keys = append(keys, e.Key)
		}
	}
	return keys
}

func (w *world) condition(namespace string, t corev1.NamespaceConditionType) string {
	obj, err := w.Get(w.t.Context(), api.Namespaces, "", namespace)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, c := range obj.(*corev1.Namespace).Status.Conditions {
		if c.Type == t && c.Status == corev1.ConditionTrue {
			return c.Message
		}
	}
	return ""
}

func TestEveryLivingNamespaceHasItsAccount(t *testing.T) {
	w := newWorld(t)
	w.createSpace("team")
	w.run(w.Registry)
	has := func(namespace string) func() bool {
		return func() bool { return w.exists(api.ServiceAccounts, namespace, "default") }
	}
	w.until("of the first namespace", has("default"))
	w.until("of one there before", has("team"))
	w.createSpace("late")
	w.until("of a new one", has("late"))
	first, err := w.Get(t.Context(), api.ServiceAccounts, "team", "default")
	if err != nil {
		t.Fatal(err)
	}
	w.delete(api.ServiceAccounts, "team", "default")
	w.until("made anew", func() bool {
		now, err := w.Get(t.Context(), api.ServiceAccounts, "team", "default")
		return err == nil && now.GetUID() != first.GetUID()
	})
}

func TestContentGoesBeforeItsNamespace(t *testing.T) {
	w := newWorld(t)
	w.run(w.Registry)
	w.createSpace("team")
	w.until("its account", func() bool { return w.exists(api.ServiceAccounts, "team", "default") })
	p := w.createPod("team", "web")
	w.create(api.ConfigMaps, configMap("team", "c"))
	w.create(api.Secrets, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "s"}})
	w.create(api.Events, &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "e"}})
	w.create(api.ConfigMaps, configMap("default", "c"))
	w.delete(api.Namespaces, "", "team")

	w.until("it says what is left", func() bool {
		return w.condition("team", corev1.NamespaceContentRemaining) ==
			"Some resources are remaining: configmaps. has 1 resource instances, events. has 1 resource instances, "+
				"pods. has 1 resource instances, secrets. has 1 resource instances, serviceaccounts. has 1 resource instances"
	})
	if obj, err := w.Get(t.Context(), api.Pods, "team", "web"); err != nil || *obj.GetDeletionGracePeriodSeconds() != 30 {
		t.Errorf("the pod: %v, %v", obj, err)
	}
	if err := w.FinishPodDeletion(t.Context(), "n1", "team", "web", p.UID); err != nil {
		t.Fatal(err)
	}
	w.untilGone("team")
	if !w.exists(api.ConfigMaps, "default", "c") {
		t.Error("another namespace lost something")
	}
	w.createSpace("team")
	w.until("its successor lives", func() bool { return w.exists(api.ServiceAccounts, "team", "default") })
}

func TestFinalizersHoldANamespace(t *testing.T) {
	w := newWorld(t)
	w.run(w.Registry)
	w.createSpace("team", "example.com/space")
	c := w.create(api.ConfigMaps, configMap("team", "c", "example.com/a"))
	w.create(api.ConfigMaps, configMap("team", "d", "example.com/a"))
	w.create(api.ConfigMaps, configMap("team", "e"))
	w.delete(api.Namespaces, "", "team")
	w.until("it counts finalizers", func() bool {
		return w.condition("team", corev1.NamespaceFinalizersRemaining) ==
			"Some content in the namespace has finalizers remaining: example.com/a in 2 resource instances"
	})
	release := func(k *api.Kind, namespace, name string) {
		t.Helper()
		obj, err := w.Get(t.Context(), k, namespace, name)
		if err != nil {
			t.Fatal(err)
		}
		next := obj.DeepCopyObject().(api.Object)
		next.SetFinalizers(nil)
		if _, _, err := w.Update(t.Context(), k, namespace, name, next, registry.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	release(api.ConfigMaps, "team", c.GetName())
	w.until("it counts again", func() bool {
		return strings.HasSuffix(w.condition("team", corev1.NamespaceFinalizersRemaining), "in 1 resource instances")
	})
	release(api.ConfigMaps, "team", "d")
	w.until("it is empty", func() bool {
		obj, err := w.Get(t.Context(), api.Namespaces, "", "team")
		return err == nil && len(obj.(*corev1.Namespace).Spec.Finalizers) == 0
	})
	if w.condition("team", corev1.NamespaceContentRemaining) != "" || w.condition("team", corev1.NamespaceFinalizersRemaining) != "" {
		t.Error("it says that something is left")
	}
	release(api.Namespaces, "", "team")
	w.untilGone("team")
}

func TestWaitingWritesNothing(t *testing.T) {
	w := newWorld(t)
	w.createSpace("team")
	w.create(api.ConfigMaps, configMap("team", "c", "example.com/a"))
	w.delete(api.Namespaces, "", "team")
	c := New(w.Registry, slog.New(slog.DiscardHandler))
	for range 2 {
		if err := c.look(t.Context(), "team"); err != nil {
			t.Fatal(err)
		}
	}
	head := w.store.Head()
	if err := c.look(t.Context(), "team"); err != nil || w.store.Head() != head {
		t.Errorf("%v, revision %d after %d", err, w.store.Head(), head)
	}
}

// limited is a registry that stops its controller after a number of writes.
type limited struct {
	Registry
	left atomic.Int64
	stop func()
}

var errKilled = errors.New("killed")

func (l *limited) spend() error {
	if l.left.Add(-1) < 0 {
		l.stop()
		return errKilled
	}
	return nil
}

func (l *limited) Delete(ctx context.Context, k *api.Kind, namespace, name string, o metav1.DeleteOptions) (api.Object, error) {
	if err := l.spend(); err != nil {
		return nil, err
	}
	return l.Registry.Delete(ctx, k, namespace, name, o)
}

func (l *limited) FinalizeNamespace(ctx context.Context, name string, uid types.UID) error {
	if err := l.spend(); err != nil {
		return err
	}
	return l.Registry.FinalizeNamespace(ctx, name, uid)
}

func TestItGoesOnWhereverItWasKilled(t *testing.T) {
	w := newWorld(t)
	const whole = 6 // two secrets, two config maps, an event, the end
	for writes := range int64(whole + 1) {
		name := fmt.Sprintf("team-%d", writes)
		w.createSpace(name)
		for i := range 2 {
			w.create(api.ConfigMaps, configMap(name, fmt.Sprintf("c-%d", i)))
			w.create(api.Secrets, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: fmt.Sprintf("s-%d", i)}})
		}
		w.create(api.Events, &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "e"}})
		w.delete(api.Namespaces, "", name)

		ctx, kill := context.WithCancel(t.Context())
		reg := &limited{Registry: w.Registry, stop: kill}
		reg.left.Store(writes)
		err := New(reg, slog.New(slog.DiscardHandler)).look(ctx, name)
		if (err != nil) != (writes < whole) {
			t.Errorf("after %d writes: %v", writes, err)
		}
		kill()
		stop := w.run(w.Registry)
		w.untilGone(name)
		stop()
	}
}

func TestFailuresAreToldAndTriedAgain(t *testing.T) {
	w := newWorld(t)
	w.createSpace("team")
	w.create(api.ConfigMaps, configMap("team", "c"))
	w.delete(api.Namespaces, "", "team")
	c := New(&limited{Registry: w.Registry, stop: func() {}}, slog.New(slog.DiscardHandler))
	if err := c.look(t.Context(), "team"); !errors.Is(err, errKilled) {
		t.Errorf("got %v", err)
	}
	if got := w.condition("team", corev1.NamespaceDeletionContentFailure); got != "Failed to delete all resource types, 1 remaining: ConfigMap team/c: killed" {
		t.Errorf("condition %q", got)
	}
	w.run(w.Registry)
	w.untilGone("team")
}

func TestCreatorsRaceTheController(t *testing.T) {
	w := newWorld(t)
	w.run(w.Registry)
	for round := range 5 {
		name := fmt.Sprintf("team-%d", round)
		w.createSpace(name)
		var creators sync.WaitGroup
		for c := range 4 {
			creators.Go(func() {
				for i := 0; ; i++ {
					_, _, err := w.Create(t.Context(), api.ConfigMaps, configMap(name, fmt.Sprintf("c-%d-%d", c, i)), registry.WriteOptions{})
					if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		w.until("something is there", func() bool { return len(w.keysIn(name)) > 8 })
		w.delete(api.Namespaces, "", name)
		w.untilGone(name)
		creators.Wait()
		if left := w.keysIn(name); len(left) > 0 {
			t.Fatalf("created afterwards: %q", left)
		}
	}
}
