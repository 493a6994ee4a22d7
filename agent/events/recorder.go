// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package events makes corev1 Events of what happens to pods and keeps them for
// the session that takes them to the server.
package events

import (
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
)

// Component is the source of every event.
const Component = "berth-agent"

// Options of a Recorder; zero values take the defaults.
type Options struct {
	// Node is the host that events name.
	Node string
	// Capacity is how many events wait at most; 1000.
	Capacity int
	// Window is how long after its last time an event counts as repeated rather
	// than new; 10 min.
	Window time.Duration
}

// Recorder implements podtypes.EventRecorder over a bounded queue.
type Recorder struct {
	node    string
	queue   chan *corev1.Event
	dropped atomic.Uint64

	mu sync.Mutex
	// stamp is the number in the newest event's name.
	stamp  int64
	recent *recent
}

// New returns an empty Recorder.
func New(o Options) *Recorder {
	if o.Capacity == 0 {
		o.Capacity = 1000
	}
	if o.Window == 0 {
		o.Window = 10 * time.Minute
	}
	return &Recorder{
		node:   o.Node,
		queue:  make(chan *corev1.Event, o.Capacity),
		recent: newRecent(o.Window, o.Capacity),
	}
}

// Events delivers each event, oldest first. A repeated event comes again under
// its first name with a higher count.
func (r *Recorder) Events() <-chan *corev1.Event { return r.queue }

// Dropped returns how many events were lost because nobody took them in time.
func (r *Recorder) Dropped() uint64 { return r.dropped.Load() }

// Record notes an event of a pod; see podtypes.EventRecorder. It never blocks:
// when the queue is full the oldest event is dropped.
func (r *Recorder) Record(pod *corev1.Pod, fieldPath, eventType, reason, message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	event := r.event(pod, fieldPath, eventType, reason, clean(message))
	r.recent.count(event)
	r.enqueue(event)
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

func (r *Recorder) event(pod *corev1.Pod, fieldPath, eventType, reason, message string) *corev1.Event {
	now := metav1.Now()
	return &corev1.Event{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Event"},
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: r.name(pod, now.Time)},
		InvolvedObject: corev1.ObjectReference{
			APIVersion:      "v1",
			Kind:            "Pod",
			Namespace:       pod.Namespace,
			Name:            pod.Name,
			UID:             pod.UID,
			ResourceVersion: pod.ResourceVersion,
			FieldPath:       fieldPath,
		},
		Type:                eventType,
		Reason:              reason,
		Message:             message,
		Source:              corev1.EventSource{Component: Component, Host: r.node},
		ReportingController: Component,
		ReportingInstance:   r.node,
		FirstTimestamp:      now,
		LastTimestamp:       now,
		Count:               1,
	}
}

// name is unique on the node: the time, moved on if two events share it.
func (r *Recorder) name(pod *corev1.Pod, now time.Time) string {
	r.stamp = max(r.stamp+1, now.UnixNano())
	return api.EventName(pod.Name, r.stamp)
}
