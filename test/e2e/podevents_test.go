// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/http"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/test/internal/harness"
)

// events returns those of a pod, or of all that the test has, in which the text is.
func (w *world) events(pod, text string) ([]corev1.Event, error) {
	var list corev1.EventList
	_, err := w.Do(w.ctx(), http.MethodGet, "/api/v1/namespaces/"+w.ns+"/events", nil, &list)
	return slices.DeleteFunc(list.Items, func(e corev1.Event) bool {
		return pod != "" && e.InvolvedObject.Name != pod || !strings.Contains(e.Reason+": "+e.Message, text)
	}), err
}

// hasEvent tells whether an event of the pod has that text.
func (w *world) hasEvent(pod, text string) bool {
	found, err := w.events(pod, text)
	return err == nil && len(found) > 0
}

// waitEvent waits for an event of the pod that has the text.
func (w *world) waitEvent(pod, text string) {
	w.t.Helper()
	if err := harness.Poll(w.ctx(), "pod "+pod+" has the event "+text, func() (bool, error) { return w.hasEvent(pod, text), nil }); err != nil {
		w.t.Error(err)
	}
}

// countEvents counts how often an event with that text has happened to the object at
// the path in the pod, or to any one.
func (w *world) countEvents(pod, fieldPath, text string) int {
	w.t.Helper()
	found, err := w.events(pod, text)
	if err != nil {
		w.t.Fatal(err)
	}
	n := 0
	for _, e := range found {
		if fieldPath == "" || e.InvolvedObject.FieldPath == fieldPath {
			n += max(1, int(e.Count))
		}
	}
	return n
}

// lastEvent is when something happened to a pod for the last time.
func (w *world) lastEvent(pod, reason string) (last time.Time) {
	w.t.Helper()
	err := harness.Poll(w.ctx(), "pod "+pod+" has an event "+reason, func() (bool, error) {
		found, err := w.events(pod, reason)
		for _, e := range found {
			if e.Reason == reason && e.LastTimestamp.After(last) {
				last = e.LastTimestamp.Time
			}
		}
		return !last.IsZero(), err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return last
}

// noWarning checks that users were not told that of a pod.
func (w *world) noWarning(name, reason string) {
	w.t.Helper()
	found, err := w.events(name, reason)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range found {
		if e.Reason == reason {
			w.t.Errorf("event %s of %s: %s", reason, name, e.Message)
		}
	}
}
