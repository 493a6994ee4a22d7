// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package eventrecorder

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// of is one of many pods.
func of(i int) corev1.ObjectReference {
	o := web
	o.UID = types.UID(fmt.Sprint(i))
	return o
}

func TestRecord(t *testing.T) {
	r := New()
	about := web
	about.FieldPath = "spec.containers{a}"
	warn(r, about, "BackOff", "restarting")
	e := <-r.Events()
	if e.Namespace != "default" || !strings.HasPrefix(e.Name, "web.") || e.Count != 1 {
		t.Errorf("event %s/%s, count %d", e.Namespace, e.Name, e.Count)
	}
	if e.InvolvedObject != about || e.Type != "Warning" || e.Reason != "BackOff" || e.Message != "restarting" {
		t.Errorf("%s %s %s of %+v", e.Type, e.Reason, e.Message, e.InvolvedObject)
	}
	if e.Source != source || e.ReportingController != "berth-agent" || e.ReportingInstance != "n1" {
		t.Errorf("source %+v, %s, %s", e.Source, e.ReportingController, e.ReportingInstance)
	}
	if e.FirstTimestamp.IsZero() || e.LastTimestamp.IsZero() {
		t.Errorf("times %v %v", e.FirstTimestamp, e.LastTimestamp)
	}
}

func TestAnEventOfANodeLivesInDefault(t *testing.T) {
	r := New()
	warn(r, corev1.ObjectReference{Kind: "Node", Name: "n1", UID: "n1"}, "NodeNotReady", "gone")
	if e := <-r.Events(); e.Namespace != "default" || e.InvolvedObject.Namespace != "" {
		t.Errorf("in %q, about one in %q", e.Namespace, e.InvolvedObject.Namespace)
	}
}

func TestAFullQueueDropsTheOldest(t *testing.T) {
	r := New()
	for i := range capacity + 2 {
		warn(r, of(i), "Failed", fmt.Sprint(i))
	}
	if e := <-r.Events(); e.Message != "2" {
		t.Errorf("the oldest is %s", e.Message)
	}
	if r.Dropped() != 2 {
		t.Errorf("dropped %d", r.Dropped())
	}
}

func TestRecordFromManySides(t *testing.T) {
	r := New()
	var wg sync.WaitGroup
	for side := range 8 {
		wg.Go(func() {
			for i := range 200 {
				warn(r, of(1000*side+i), "Failed", "no")
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
	if left := uint64(len(r.Events())); taken+left+r.Dropped() != 1600 {
		t.Errorf("%d taken, %d left, %d dropped", taken, left, r.Dropped())
	}
}

func TestNamesAreUnique(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the clock stands still
		r := New()
		warn(r, web, "Failed", "a")
		warn(r, web, "Failed", "b")
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
