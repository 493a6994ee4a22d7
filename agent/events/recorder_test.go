// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package events

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/agent/podtypes"
)

var _ podtypes.EventRecorder = (*Recorder)(nil)

func pod() *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "uid-1", ResourceVersion: "7"}}
}

func TestRecord(t *testing.T) {
	r := New(Options{Node: "n1"})
	r.Record(pod(), "spec.containers{a}", corev1.EventTypeWarning, "BackOff", "restarting")
	e := <-r.Events()
	if e.Namespace != "default" || !strings.HasPrefix(e.Name, "web.") || e.Count != 1 {
		t.Errorf("event %s/%s, count %d", e.Namespace, e.Name, e.Count)
	}
	want := corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: "default", Name: "web", UID: "uid-1", ResourceVersion: "7", FieldPath: "spec.containers{a}"}
	if e.InvolvedObject != want {
		t.Errorf("object %+v", e.InvolvedObject)
	}
	if e.Type != "Warning" || e.Reason != "BackOff" || e.Message != "restarting" {
		t.Errorf("%s %s %s", e.Type, e.Reason, e.Message)
	}
	if e.Source != (corev1.EventSource{Component: "berth-agent", Host: "n1"}) || e.FirstTimestamp.IsZero() || e.LastTimestamp.IsZero() {
		t.Errorf("source %+v, times %v %v", e.Source, e.FirstTimestamp, e.LastTimestamp)
	}
}

func TestARepeatedEventCountsOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(Options{Window: time.Minute})
		record := func(message string) *corev1.Event {
			r.Record(pod(), "", corev1.EventTypeWarning, "FailedMount", message)
			return <-r.Events()
		}
		first := record("no disk")
		time.Sleep(30 * time.Second)
		again := record("no disk")
		other := record("no space")
		time.Sleep(50 * time.Second) // in the window of the repetition
		third := record("no disk")
		time.Sleep(2 * time.Minute)
		late := record("no disk")

		if again.Name != first.Name || again.Count != 2 || third.Name != first.Name || third.Count != 3 {
			t.Errorf("%s %d, %s %d, %s %d", first.Name, first.Count, again.Name, again.Count, third.Name, third.Count)
		}
		if !third.FirstTimestamp.Equal(&first.FirstTimestamp) || !third.LastTimestamp.After(first.LastTimestamp.Time) {
			t.Errorf("times %v %v", third.FirstTimestamp, third.LastTimestamp)
		}
		if other.Name == first.Name || other.Count != 1 || late.Name == first.Name || late.Count != 1 {
			t.Errorf("other %s %d, late %s %d", other.Name, other.Count, late.Name, late.Count)
		}
	})
}

func TestAFullQueueDropsTheOldest(t *testing.T) {
	r := New(Options{Capacity: 3})
	for i := range 5 {
		r.Record(pod(), "", corev1.EventTypeNormal, "Pulled", fmt.Sprint(i))
	}
	for i := 2; i < 5; i++ {
		if e := <-r.Events(); e.Message != fmt.Sprint(i) {
			t.Errorf("message %s, want %d", e.Message, i)
		}
	}
	if r.Dropped() != 2 {
		t.Errorf("dropped %d", r.Dropped())
	}
}

func TestWhatIsRememberedIsBounded(t *testing.T) {
	r := New(Options{Capacity: 10})
	for i := range 1000 {
		r.Record(pod(), "", corev1.EventTypeNormal, "Pulled", fmt.Sprint(i))
		if n := len(r.recent.seen); n > 10 {
			t.Fatalf("%d events remembered", n)
		}
	}
}

func TestRecordFromManySides(t *testing.T) {
	r := New(Options{Capacity: 10})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 100 {
				r.Record(pod(), "", corev1.EventTypeNormal, "Pulled", fmt.Sprint(i))
			}
		})
	}
	taken := uint64(0)
	stop := make(chan struct{})
	taker := make(chan struct{})
	go func() {
		defer close(taker)
		for {
			select {
			case <-r.Events():
				taken++
			case <-stop:
				return
			}
		}
	}()
	wg.Wait()
	close(stop)
	<-taker
	if left := uint64(len(r.Events())); taken+left+r.Dropped() != 800 {
		t.Errorf("%d taken, %d left, %d dropped", taken, left, r.Dropped())
	}
}

func TestNamesAreUnique(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the clock stands still
		r := New(Options{})
		r.Record(pod(), "", corev1.EventTypeNormal, "Pulled", "a")
		r.Record(pod(), "", corev1.EventTypeNormal, "Pulled", "b")
		if a, b := <-r.Events(), <-r.Events(); a.Name == b.Name {
			t.Errorf("both are %s", a.Name)
		}
	})
}

func TestClean(t *testing.T) {
	for name, message := range map[string]string{
		"short": "fine", "invalid": "bad \xff", "long": strings.Repeat("x", 5000), "long runes": strings.Repeat("ü", 5000),
	} {
		got := clean(message)
		if !utf8.ValidString(got) || len(got) > longestMessage || got == "" {
			t.Errorf("%s: %d bytes, valid %t", name, len(got), utf8.ValidString(got))
		}
	}
	if clean("fine") != "fine" {
		t.Error("a fine message is changed")
	}
}
