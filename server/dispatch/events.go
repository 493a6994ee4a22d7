// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"context"
	"log/slog"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/api"
	nodepb "github.com/berth-run/berth/proto/berth/node/v1"
)

// eventWriters bounds the events of one session that are stored at once, and
// eventQueue those that wait: what comes beyond is dropped, as events are told
// for information and must not hold up statuses.
const (
	eventWriters = 8
	eventQueue   = 1024
)

// eventWriter stores the events of one session.
type eventWriter struct {
	events  Events
	logger  *slog.Logger
	queued  chan struct{}
	slots   chan struct{}
	writers sync.WaitGroup
}

func newEventWriter(events Events, logger *slog.Logger) *eventWriter {
	return &eventWriter{
		events: events,
		logger: logger,
		queued: make(chan struct{}, eventQueue),
		slots:  make(chan struct{}, eventWriters),
	}
}

// submit stores the event in the background.
func (w *eventWriter) submit(ctx context.Context, m *nodepb.EventReport) {
	select {
	case w.queued <- struct{}{}:
	default:
		w.logger.Warn("an event is dropped: too many are waiting", "reason", m.GetEvent().GetReason())
		return
	}
	w.writers.Go(func() {
		defer func() { <-w.queued }()
		select {
		case w.slots <- struct{}{}:
			defer func() { <-w.slots }()
			w.store(ctx, m)
		case <-ctx.Done():
		}
	})
}

// wait returns when no event is being stored any more; submit's context ends
// them.
func (w *eventWriter) wait() { w.writers.Wait() }

func (w *eventWriter) store(ctx context.Context, m *nodepb.EventReport) {
	obj, err := api.ToObject(api.Events, m.GetEvent())
	if err == nil {
		err = w.events.Store(ctx, obj.(*corev1.Event))
	}
	if err != nil && ctx.Err() == nil {
		w.logger.Warn("an event is not stored", "reason", m.GetEvent().GetReason(), "err", err)
	}
}
