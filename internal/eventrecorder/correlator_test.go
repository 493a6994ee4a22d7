// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package eventrecorder

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

var (
	source = corev1.EventSource{Component: "berth-agent", Host: "n1"}
	web    = corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: "default", Name: "web", UID: "uid-1"}
)

// told takes all events that wait, as counts and messages.
func told(r *Recorder) (events []*corev1.Event) {
	for len(r.Events()) > 0 {
		events = append(events, <-r.Events())
	}
	return events
}

func warn(r *Recorder, about corev1.ObjectReference, reason, message string) {
	r.Record(source, about, corev1.EventTypeWarning, reason, message)
}

func TestWhatIsSaidAgainIsCounted(t *testing.T) {
	id := func(c string) string { return strings.Repeat(c, 64) }
	for name, tc := range map[string]struct {
		first, second string
		same          bool
	}{
		"same":              {"no disk", "no disk", true},
		"other":             {"no disk", "no space", false},
		"container id":      {"task " + id("a") + " not found", "task " + id("b") + " not found", true},
		"quoted id":         {`container "` + id("a") + `" gone`, `container "` + id("b") + `" gone`, true},
		"temporary file":    {"open /p/..2039847/a: no space", "open /p/..1177213/a: no space", true},
		"duration":          {`Pulled image "web" in 812ms`, `Pulled image "web" in 1m2.5s`, true},
		"digest":            {"Pulling web@sha256:" + id("a"), "Pulling web@sha256:" + id("b"), false},
		"tag":               {`Pulling image "web:20261129"`, `Pulling image "web:20261130"`, false},
		"number of a count": {"0/3 nodes are available", "0/4 nodes are available", false},
		"exit code":         {"exit code 1", "exit code 2", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := New()
			warn(r, web, "Failed", tc.first)
			warn(r, web, "Failed", tc.second)
			events := told(r)
			if same := events[0].Name == events[1].Name && events[1].Count == 2; same != tc.same {
				t.Errorf("counted: %t, want %t", same, tc.same)
			}
			if events[1].Message != tc.second {
				t.Errorf("message %q", events[1].Message)
			}
		})
	}
}

func TestARepetitionKeepsItsFirstTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New()
		warn(r, web, "FailedMount", "no disk")
		time.Sleep(3 * time.Hour)
		warn(r, web, "FailedMount", "no disk")
		first, again := <-r.Events(), <-r.Events()
		if again.Name != first.Name || again.Count != 2 || !again.FirstTimestamp.Equal(&first.FirstTimestamp) {
			t.Errorf("%s %d since %v, then %s %d since %v", first.Name, first.Count, first.FirstTimestamp, again.Name, again.Count, again.FirstTimestamp)
		}
		if took := again.LastTimestamp.Sub(first.LastTimestamp.Time); took != 3*time.Hour {
			t.Errorf("last times are %v apart", took)
		}
	})
}

func TestWhatTellsEventsApart(t *testing.T) {
	other := func(change func(*corev1.ObjectReference)) corev1.ObjectReference {
		o := web
		change(&o)
		return o
	}
	r := New()
	warn(r, web, "Failed", "no")
	warn(r, other(func(o *corev1.ObjectReference) { o.UID = "uid-2" }), "Failed", "no")
	warn(r, other(func(o *corev1.ObjectReference) { o.FieldPath = "spec.containers{a}" }), "Failed", "no")
	warn(r, web, "FailedMount", "no")
	r.Record(source, web, corev1.EventTypeNormal, "Failed", "no")
	r.Record(corev1.EventSource{Component: "default-scheduler"}, web, corev1.EventTypeWarning, "Failed", "no")
	for _, e := range told(r) {
		if e.Count != 1 {
			t.Errorf("%+v is counted", e)
		}
	}
	warn(r, other(func(o *corev1.ObjectReference) { o.ResourceVersion = "8" }), "Failed", "no")
	if e := <-r.Events(); e.Count != 2 {
		t.Error("another version of the object is taken for another object")
	}
}

// line is an event as the tests compare it.
func line(e *corev1.Event) string { return fmt.Sprintf("%d %s", e.Count, e.Message) }

func lines(events []*corev1.Event) (all []string) {
	for _, e := range events {
		all = append(all, line(e))
	}
	return all
}

func TestManyThatAreAlikeBecomeOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New()
		var want []string
		for i := range 12 {
			warn(r, web, "Unhealthy", fmt.Sprintf("try %d", i))
			if i < alike {
				want = append(want, fmt.Sprintf("1 try %d", i))
			}
		}
		want = append(want, "1 (combined from similar events): try 9",
			"2 (combined from similar events): try 10", "3 (combined from similar events): try 11")
		events := told(r)
		if got := lines(events); !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
		if last := events[len(events)-1]; last.Name != events[alike].Name {
			t.Error("there are several combined events")
		}

		warn(r, web, "Unhealthy", "try 3") // it is known, and says more by itself
		warn(r, web, "Other", "try 12")
		time.Sleep(alikeWithin + time.Second)
		warn(r, web, "Unhealthy", "try 13")
		if got, want := lines(told(r)), []string{"2 try 3", "1 try 12", "1 try 13"}; !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
	})
}

func TestOfOneObjectEverLessIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New()
		for range 1000 {
			warn(r, web, "BackOff", "again")
		}
		if events := told(r); len(events) != burst || events[burst-1].Count != burst {
			t.Fatalf("%d events at once, the last %s", len(events), line(events[len(events)-1]))
		}
		other := web
		other.UID = types.UID("uid-2")
		warn(r, other, "BackOff", "again")
		r.Record(source, web, corev1.EventTypeNormal, "Pulled", "fine")
		if n := len(told(r)); n != 2 {
			t.Errorf("%d events of others, want 2", n)
		}
		for range 3 {
			time.Sleep(refill)
			warn(r, web, "BackOff", "again")
			warn(r, web, "BackOff", "again")
		}
		if got, want := lines(told(r)), []string{"1001 again", "1003 again", "1005 again"}; !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
		time.Sleep(24 * time.Hour)
		for range 1000 {
			warn(r, web, "BackOff", "again")
		}
		if n := len(told(r)); n != burst {
			t.Errorf("%d events after a long rest, want %d", n, burst)
		}
	})
}

func TestWhatIsRememberedIsBounded(t *testing.T) {
	c := newCorrelator(10)
	for i := range 1000 {
		about := web
		about.UID = types.UID(fmt.Sprint(i))
		c.correlate(newEvent(source, about, time.Now()))
	}
	if c.groups.Len() > 10 || c.counts.Len() > 10 || c.budgets.Len() > 10 {
		t.Errorf("%d groups, %d counts, %d budgets", c.groups.Len(), c.counts.Len(), c.budgets.Len())
	}
}

func BenchmarkRecord(b *testing.B) {
	r := New()
	for b.Loop() {
		warn(r, web, "BackOff", "Back-off restarting failed container web in pod web_default(uid-1)")
		told(r)
	}
}
