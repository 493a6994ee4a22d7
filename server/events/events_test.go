// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package events

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/server/registry"
	"github.com/berth-run/berth/store/bolt"
)

// world is a store with a registry. It runs in a synctest bubble.
type world struct {
	*testing.T
	path     string
	store    *bolt.Store
	metrics  *prometheus.Registry
	registry *registry.Registry
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, path: filepath.Join(t.TempDir(), "berth.db")}
	w.open()
	t.Cleanup(func() { w.store.Close() })
	return w
}

func (w *world) open() {
	w.Helper()
	w.metrics = prometheus.NewRegistry()
	s, err := bolt.Open(w.path, bolt.Options{Metrics: w.metrics})
	if err != nil {
		w.Fatal(err)
	}
	w.store, w.registry = s, registry.New(s, registry.Options{})
	if err := w.registry.EnsureDefaults(w.Context()); err != nil {
		w.Fatal(err)
	}
}

// restart ends the server and starts it again.
func (w *world) restart() {
	w.Helper()
	if err := w.store.Close(); err != nil {
		w.Fatal(err)
	}
	w.open()
}

// run runs events until the test's end, or stop.
func (w *world) run(o Options) (e *Events, stop func()) { return w.runOver(w.registry, o) }

func (w *world) runOver(reg Registry, o Options) (e *Events, stop func()) {
	e = New(reg, o)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := e.Run(ctx); err != nil {
			w.Error(err)
		}
	}()
	stop = func() { cancel(); <-done }
	w.Cleanup(stop)
	synctest.Wait()
	return e, stop
}

func event(name string, last time.Time) *corev1.Event {
	return &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: "default", Name: name},
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: "default", Name: "web"},
		Type:           "Normal", Reason: "Started", Count: 1,
		FirstTimestamp: metav1.NewTime(last), LastTimestamp: metav1.NewTime(last),
	}
}

func (w *world) create(e *corev1.Event) {
	w.Helper()
	if _, _, err := w.registry.Create(w.Context(), api.Events, e, registry.WriteOptions{}); err != nil {
		w.Error(err)
	}
}

// createMany shares the commits.
func (w *world) createMany(n int) {
	var created sync.WaitGroup
	for i := range n {
		created.Go(func() { w.create(event(fmt.Sprint("old.", i), time.Now())) })
	}
	created.Wait()
}

func (w *world) events() (all []*corev1.Event) {
	w.Helper()
	list, err := w.registry.List(w.Context(), api.Events, "", registry.ListOptions{})
	if err != nil {
		w.Fatal(err)
	}
	for _, obj := range list.Items {
		all = append(all, obj.(*corev1.Event))
	}
	return all
}

func (w *world) names() (names []string) {
	for _, e := range w.events() {
		names = append(names, e.Name)
	}
	return names
}

// commits is how many transactions the store has made.
func (w *world) commits() uint64 {
	w.Helper()
	families, err := w.metrics.Gather()
	if err != nil {
		w.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "berth_store_commit_duration_seconds" {
			return f.GetMetric()[0].GetHistogram().GetSampleCount()
		}
	}
	w.Fatal("the store does not count its commits")
	return 0
}

func TestEventsExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.run(Options{TTL: time.Hour})
		w.createMany(1000)
		time.Sleep(30 * time.Minute)
		w.create(event("young", time.Now()))
		synctest.Wait()
		before := w.commits()
		time.Sleep(29 * time.Minute)
		if n := w.commits() - before; n != 0 {
			t.Errorf("%d commits while nothing expires", n)
		}
		time.Sleep(3 * time.Minute)
		if got := w.names(); !slices.Equal(got, []string{"young"}) {
			t.Errorf("%d events are left: %.5v", len(got), got)
		}
		if n := w.commits() - before; n > 12 {
			t.Errorf("%d commits for 1000 removals", n)
		}
	})
}

func TestAnEventThatHappensAgainStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		e, _ := w.run(Options{TTL: time.Hour})
		again := event("again", time.Now())
		for range 5 {
			if err := e.Store(t.Context(), again); err != nil {
				t.Fatal(err)
			}
			time.Sleep(40 * time.Minute)
			again.Count++
		}
		if got := w.events(); len(got) != 1 || got[0].Count != 5 {
			t.Fatalf("events %v", got)
		}
		time.Sleep(30 * time.Minute)
		if got := w.names(); len(got) != 0 {
			t.Errorf("events %v", got)
		}
		// Its recorder counts on, for which the event is new.
		if err := e.Store(t.Context(), again); err != nil {
			t.Fatal(err)
		}
		if got := w.events(); len(got) != 1 || got[0].Count != 6 {
			t.Errorf("events %v", got)
		}
	})
}

// What was stored before a start is as old as it says; what comes from the future,
// because the clock was set back, has its time from now on.
func TestEventsExpireAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		_, stop := w.run(Options{TTL: time.Hour})
		w.create(event("old", time.Now()))
		w.create(event("future", time.Now().Add(1000*time.Hour)))
		time.Sleep(50 * time.Minute)
		w.create(event("young", time.Now()))
		stop()
		w.restart()
		time.Sleep(20 * time.Minute)
		w.run(Options{TTL: time.Hour})
		time.Sleep(2 * time.Minute)
		if got := w.names(); !slices.Equal(got, []string{"future", "young"}) {
			t.Errorf("events %v", got)
		}
		time.Sleep(40 * time.Minute)
		if got := w.names(); !slices.Equal(got, []string{"future"}) {
			t.Errorf("events %v", got)
		}
		time.Sleep(20 * time.Minute)
		if got := w.names(); len(got) != 0 {
			t.Errorf("events %v", got)
		}
	})
}

// An agent whose clock is behind tells of what is old already.
func TestAnEventFromABelatedClockIsKeptForItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.run(Options{TTL: time.Hour})
		w.create(event("late", time.Now().Add(-1000*time.Hour)))
		time.Sleep(59 * time.Minute)
		if got := w.names(); len(got) != 1 {
			t.Fatal("it is gone")
		}
		time.Sleep(3 * time.Minute)
		if got := w.names(); len(got) != 0 {
			t.Error("it is there still")
		}
	})
}

func TestWithoutATTLOnlyTheirNumberIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.run(Options{Max: 32})
		for i := range 32 {
			w.create(event(fmt.Sprintf("e.%02d", i), time.Now()))
			time.Sleep(time.Hour)
		}
		if n := len(w.names()); n != 32 {
			t.Errorf("%d events, want 32", n)
		}
		w.create(event("e.99", time.Now()))
		synctest.Wait()
		got := w.names()
		if len(got) != 30 || got[0] != "e.03" || got[29] != "e.99" {
			t.Errorf("%d events, from %s to %s", len(got), got[0], got[len(got)-1])
		}
	})
}

// failing refuses deletions for as long as told.
type failing struct {
	*registry.Registry
	fail  atomic.Bool
	asked atomic.Int32
}

func (f *failing) Delete(ctx context.Context, k *api.Kind, namespace, name string, o metav1.DeleteOptions) (api.Object, error) {
	f.asked.Add(1)
	if f.fail.Load() {
		return nil, apierrors.NewInternalError(fmt.Errorf("the disk is full"))
	}
	return f.Registry.Delete(ctx, k, namespace, name, o)
}

func TestWhatCannotBeRemovedIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		f := &failing{Registry: w.registry}
		f.fail.Store(true)
		w.runOver(f, Options{TTL: time.Hour})
		w.create(event("old", time.Now()))
		time.Sleep(time.Hour + 10*time.Minute)
		if n := f.asked.Load(); n < 5 || n > 15 {
			t.Errorf("asked %d times in ten minutes", n)
		}
		f.fail.Store(false)
		time.Sleep(2 * time.Minute)
		if got := w.names(); len(got) != 0 {
			t.Errorf("events %v", got)
		}
	})
}

func TestRecordedEventsAreStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		e, _ := w.run(Options{TTL: time.Hour})
		source := e.From(corev1.DefaultSchedulerName)
		about := corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: "default", Name: "web", UID: "uid-1"}
		for range 1000 {
			source.Record(about, corev1.EventTypeWarning, "FailedScheduling", "no nodes are registered")
		}
		head := w.store.Head()
		synctest.Wait()
		got := w.events()
		if len(got) != 1 || got[0].Source.Component != "default-scheduler" || got[0].Count != 25 {
			t.Errorf("events %v", got)
		}
		if n := w.store.Head() - head; n > 25 {
			t.Errorf("%d writes", n)
		}
	})
}

// Two writers of one event leave the higher count, whichever is the first.
func TestTheHigherCountStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		e := New(w.registry, Options{})
		for _, count := range []int32{1, 3, 2, 3} {
			ev := event("p.1", time.Now())
			ev.Count = count
			if err := e.Store(t.Context(), ev); err != nil {
				t.Fatal(err)
			}
		}
		if got := w.events(); len(got) != 1 || got[0].Count != 3 {
			t.Errorf("events %v", got)
		}
	})
}

func TestANamespaceThatGoesTakesItsEventsWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		e := New(w.registry, Options{})
		for _, count := range []int32{1, 2} {
			gone := event("p.2", time.Now())
			gone.Namespace, gone.InvolvedObject.Namespace, gone.Count = "gone", "gone", count
			if err := e.Store(t.Context(), gone); err != nil {
				t.Errorf("count %d: %v", count, err)
			}
		}
		if got := w.names(); len(got) != 0 {
			t.Errorf("events %v", got)
		}
	})
}

// A flood ends with no more than may be, and what came last is there.
func TestAFloodIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.run(Options{TTL: time.Hour, Max: 100})
		w.createMany(2000)
		w.create(event("last", time.Now()))
		synctest.Wait()
		if got := w.names(); len(got) > 100 || len(got) < 90 || !slices.Contains(got, "last") {
			t.Errorf("%d events, the last one of them: %t", len(got), slices.Contains(got, "last"))
		}
	})
}
