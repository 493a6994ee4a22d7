// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package events

import (
	"context"
	"log/slog"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/internal/eventrecorder"
)

// writers bounds the recorded events that are written at once: enough to share the
// store's commits.
const writers = 8

// recorder stores in the background what the server's parts record.
type recorder struct {
	*eventrecorder.Recorder
	writer Writer
	log    *slog.Logger
}

func newRecorder(w Writer, o Options) *recorder {
	r := &recorder{eventrecorder.New(), w, o.Logger}
	promauto.With(o.Metrics).NewCounterFunc(prometheus.CounterOpts{
		Name: "berth_events_dropped_total",
		Help: "Events of the server's own that were dropped, as too many were waiting to be stored.",
	}, func() float64 { return float64(r.Dropped()) })
	return r
}

// run returns when no event is being stored any more.
func (r *recorder) run(ctx context.Context) error {
	var running sync.WaitGroup
	defer running.Wait()
	for range writers {
		running.Go(func() { r.store(ctx) })
	}
	return nil
}

func (r *recorder) store(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case event := <-r.Events():
			if err := r.writer.Store(ctx, event); err != nil && ctx.Err() == nil {
				r.log.Warn("an event is not stored", "reason", event.Reason, "kind", event.InvolvedObject.Kind,
					"namespace", event.InvolvedObject.Namespace, "name", event.InvolvedObject.Name, "err", err)
			}
		}
	}
}

// Source records events that one component tells of.
type Source struct {
	recorder *recorder
	source   corev1.EventSource
}

// From returns the Source for a component.
func (e *Events) From(component string) Source {
	return Source{e.recorder, corev1.EventSource{Component: component}}
}

// Record notes an event about an object. It never blocks, and the event is stored
// some time later: what is told is for information.
func (s Source) Record(about corev1.ObjectReference, eventType, reason, message string) {
	s.recorder.Record(s.source, about, eventType, reason, message)
}
