// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/store"
	"github.com/berth-run/berth/store/bolt"
)

func (w *world) watch(k *api.Kind, namespace string, o WatchOptions) Watch {
	w.t.Helper()
	events, err := w.Watch(context.Background(), k, namespace, o)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(events.Close)
	return events
}

// next reads n events, as "TYPE name".
func next(t testing.TB, w Watch, n int) (told []string, events []WatchEvent) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for len(events) < n {
		more, err := w.Next(ctx)
		if err != nil {
			t.Fatalf("after %q: %v", told, err)
		}
		for _, e := range more {
			told = append(told, strings.TrimSpace(string(e.Type)+" "+e.Object.GetName()))
		}
		events = append(events, more...)
	}
	return told, events
}

func wantEvents(t testing.TB, w Watch, want ...string) []WatchEvent {
	t.Helper()
	told, events := next(t, w, len(want))
	if got := strings.Join(told, ", "); got != strings.Join(want, ", ") {
		t.Fatalf("got %s; want %s", got, strings.Join(want, ", "))
	}
	return events
}

func TestWatchFromTheBeginning(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	w.createPod("a", "")
	events := w.watch(api.Pods, "", WatchOptions{Bookmarks: true})
	w.createPod("b", "")
	first := wantEvents(t, events, "ADDED a", "BOOKMARK", "ADDED b")
	if a, mark := first[0].Object, first[1].Object; mark.GetResourceVersion() != a.GetResourceVersion() || mark.GetUID() != "" {
		t.Errorf("bookmark: %v", mark)
	}
	resumed := w.watch(api.Pods, "default", WatchOptions{ResourceVersion: first[1].Object.GetResourceVersion()})
	wantEvents(t, resumed, "ADDED b")
}

func TestWatchTellsTheLastState(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	w.registerNode("n1")
	events := w.watch(api.Pods, "", WatchOptions{})
	pod := w.createPod("a", "n1")
	if err := w.report(pod, corev1.PodStatus{Phase: corev1.PodRunning}); err != nil {
		t.Fatal(err)
	}
	removed := w.deletePod("a", ptr.To(int64(0)))
	got := wantEvents(t, events, "ADDED a", "MODIFIED a", "MODIFIED a", "DELETED a")

	if old := got[1].Old.(*corev1.Pod); old.Status.Phase != corev1.PodPending || old.ResourceVersion != pod.ResourceVersion {
		t.Errorf("old: %+v", old)
	}
	last := got[3].Object.(*corev1.Pod)
	if last.Status.Phase != corev1.PodRunning || last.ResourceVersion != removed.ResourceVersion || *last.DeletionGracePeriodSeconds != 0 {
		t.Errorf("last: %+v", last)
	}
	for _, e := range got {
		decoded := &corev1.Pod{}
		if err := decoded.Unmarshal(e.Encoded()); err != nil || !apiequality.Semantic.DeepEqual(decoded, e.Object) {
			t.Errorf("%s encoded (%v): %v", e.Type, err, decoded)
		}
	}
}

func TestWatchSelectorTransitions(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	web := w.watch(api.Pods, "", WatchOptions{LabelSelector: "app=web"})
	bound := w.watch(api.Pods, "", WatchOptions{FieldSelector: "spec.nodeName=n1"})
	named := w.watch(api.Pods, "default", WatchOptions{Name: "a"})
	w.createPod("a", "")
	w.createPod("a2", "")
	label := func(value string) {
		next := w.pod("a").DeepCopy()
		next.Labels = map[string]string{"app": value}
		if _, _, err := w.Update(t.Context(), api.Pods, "default", "a", next, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	label("web")
	if err := w.Bind(t.Context(), "default", &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Target: corev1.ObjectReference{Name: "n1"}}); err != nil {
		t.Fatal(err)
	}
	label("db")
	w.deletePod("a", nil)

	events := wantEvents(t, web, "ADDED a", "MODIFIED a", "DELETED a")
	if last := events[2].Object; last.GetLabels()["app"] != "web" || last.GetResourceVersion() == events[1].Object.GetResourceVersion() {
		t.Errorf("what stopped matching is told as %v", last.GetLabels())
	}
	wantEvents(t, bound, "ADDED a", "MODIFIED a", "DELETED a")
	wantEvents(t, named, "ADDED a", "MODIFIED a", "MODIFIED a", "MODIFIED a", "DELETED a")
}

func TestWatchBookmarksWhileIdle(t *testing.T) {
	w := newWorld(t, bolt.Options{ProgressInterval: 10 * time.Millisecond})
	marked := w.watch(api.Pods, "", WatchOptions{Bookmarks: true})
	first := wantEvents(t, marked, "BOOKMARK")
	created := w.create(api.ConfigMaps, configMap("", "c", ""))
	if mark := wantEvents(t, marked, "BOOKMARK")[0].Object; mark.GetResourceVersion() != created.GetResourceVersion() {
		t.Errorf("bookmarks: %s, then %s, want %s", first[0].Object.GetResourceVersion(), mark.GetResourceVersion(), created.GetResourceVersion())
	}
}

func TestWatchRefuses(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	for name, tc := range map[string]struct {
		options WatchOptions
		reason  metav1.StatusReason
		words   string
	}{
		"too old":  {WatchOptions{ResourceVersion: "9"}, metav1.StatusReasonExpired, "too old resource version: 9"},
		"future":   {WatchOptions{ResourceVersion: "9007199254740990"}, metav1.StatusReasonExpired, ""},
		"version":  {WatchOptions{ResourceVersion: "-3"}, metav1.StatusReasonBadRequest, "resourceVersion: Invalid value"},
		"selector": {WatchOptions{LabelSelector: "a in"}, metav1.StatusReasonBadRequest, "label selector"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.Watch(t.Context(), api.Pods, "", tc.options)
			wantError(t, err, tc.reason, tc.words)
		})
	}
}

func TestSlowWatcherIsToldToListAgain(t *testing.T) {
	w := newWorld(t, bolt.Options{WatchBuffer: 4})
	slow := w.watch(api.ConfigMaps, "", WatchOptions{})
	for i := range 16 {
		w.create(api.ConfigMaps, configMap("", fmt.Sprint("c", i), ""))
	}
	for {
		if _, err := slow.Next(t.Context()); err != nil {
			wantError(t, err, metav1.StatusReasonExpired, "")
			return
		}
	}
}

func TestWatchEnds(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	events := w.watch(api.Pods, "", WatchOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := events.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	events.Close()
	events.Close()
	if _, err := events.Next(t.Context()); err == nil {
		t.Error("a closed watch goes on")
	}
}

func TestEventsShareOneObject(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	created := w.createPod("a", "")
	var shared api.Object
	for range 3 {
		got := wantEvents(t, w.watch(api.Pods, "", WatchOptions{}), "ADDED a")[0]
		if got.Type != watch.Added || (shared != nil && got.Object != shared) {
			t.Error("the object is decoded again")
		}
		shared = got.Object
	}
	if shared != api.Object(created) {
		t.Error("what was written is decoded")
	}
}

// One change, told to three consumers: with the memo it is decoded at most once.
func BenchmarkDecodeForThreeConsumers(b *testing.B) {
	pod := newPod("a", "n1")
	api.Default(pod)
	value, err := pod.Marshal()
	if err != nil {
		b.Fatal(err)
	}
	entry := func(revision int) store.Entry {
		return store.Entry{Key: "pods/default/a", Value: value, Revision: int64(revision)}
	}
	b.Run("memo", func(b *testing.B) {
		b.ReportAllocs()
		m := newMemo(memoBytes)
		for i := 0; b.Loop(); i++ {
			for range 3 {
				if _, err := m.object(api.Pods, entry(i)); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("none", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			for range 3 {
				if _, err := decodeEntry(api.Pods, entry(i)); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

func BenchmarkApplyPodStatus(b *testing.B) {
	w := newWorld(b, bolt.Options{})
	pod := w.createPod("a", "n1")
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := w.report(pod, corev1.PodStatus{Phase: corev1.PodRunning, Message: fmt.Sprint(i)}); err != nil {
			b.Fatal(err)
		}
	}
}
