// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package eventrecorder makes corev1 Events of what a program tells of objects and
// keeps them for whoever stores them. It correlates them as Kubernetes' own
// recorders do: what is said again is counted, much that is alike becomes one, and
// of an object that never comes to rest ever less is told.
package eventrecorder

import (
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
)

// capacity is how many events wait at most to be taken.
const capacity = 1000

// Recorder keeps events in a bounded queue. Its methods are safe for concurrent use.
type Recorder struct {
	queue   chan *corev1.Event
	dropped atomic.Uint64

	mu sync.Mutex
	// stamp is the number in the newest event's name.
	stamp      int64
	correlator *correlator
}

// New returns an empty Recorder.
func New() *Recorder {
	return &Recorder{queue: make(chan *corev1.Event, capacity), correlator: newCorrelator(remembered)}
}

// Events delivers each event, oldest first. A repeated event comes again under
// its first name with a higher count.
func (r *Recorder) Events() <-chan *corev1.Event { return r.queue }

// Dropped returns how many events were lost because nobody took them in time.
func (r *Recorder) Dropped() uint64 { return r.dropped.Load() }

// Record notes an event about an object, told by source. It never blocks: when the
// queue is full the oldest event is dropped.
func (r *Recorder) Record(source corev1.EventSource, about corev1.ObjectReference, eventType, reason, message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	event := newEvent(source, about, time.Now())
	event.Type, event.Reason, event.Message = eventType, reason, clean(message)
	event.Name = r.name(about.Name, event.FirstTimestamp.Time)
	if r.correlator.correlate(event) {
		r.enqueue(event)
	}
}

// enqueue is called with the lock held, so that nobody else fills the place that
// it makes.
func (r *Recorder) enqueue(event *corev1.Event) {
	for {
		select {
		case r.queue <- event:
			return
		default:
		}
		select {
		case <-r.queue:
			r.dropped.Add(1)
		default:
		}
	}
}

// newEvent has the event live with its object, or in the namespace default if that
// has no namespace.
func newEvent(source corev1.EventSource, about corev1.ObjectReference, at time.Time) *corev1.Event {
	namespace := about.Namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	now := metav1.NewTime(at)
	return &corev1.Event{
		TypeMeta:            metav1.TypeMeta{APIVersion: "v1", Kind: api.Events.Name},
		ObjectMeta:          metav1.ObjectMeta{Namespace: namespace},
		InvolvedObject:      about,
		Source:              source,
		ReportingController: source.Component,
		ReportingInstance:   source.Host,
		FirstTimestamp:      now,
		LastTimestamp:       now,
		Count:               1,
	}
}

// name is unique for the recorder: the time, moved on if two events share it.
func (r *Recorder) name(object string, now time.Time) string {
	r.stamp = max(r.stamp+1, now.UnixNano())
	return api.EventName(object, r.stamp)
}
