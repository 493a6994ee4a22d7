// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"context"
	"log/slog"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/berth-run/berth/api"
	nodepb "github.com/berth-run/berth/proto/berth/node/v1"
	"github.com/berth-run/berth/server/registry"
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
	registry Registry
	logger   *slog.Logger
	queued   chan struct{}
	slots    chan struct{}
	writers  sync.WaitGroup
}

func newEventWriter(reg Registry, logger *slog.Logger) *eventWriter {
	return &eventWriter{
		registry: reg,
		logger:   logger,
		queued:   make(chan struct{}, eventQueue),
		slots:    make(chan struct{}, eventWriters),
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
		err = w.createOrRaise(ctx, obj.(*corev1.Event))
	}
	if err != nil && ctx.Err() == nil {
		w.logger.Warn("an event is not stored", "reason", m.GetEvent().GetReason(), "err", err)
	}
}

// createOrRaise stores the event. One that repeats comes again under its name
// with a higher count, which replaces a lower one.
func (w *eventWriter) createOrRaise(ctx context.Context, event *corev1.Event) error {
	for {
		_, _, err := w.registry.Create(ctx, api.Events, event, registry.WriteOptions{})
		if !apierrors.IsAlreadyExists(err) {
			return err
		}
		stored, err := w.registry.Get(ctx, api.Events, event.Namespace, event.Name)
		switch {
		case apierrors.IsNotFound(err):
			continue
		case err != nil:
			return err
		case stored.(*corev1.Event).Count >= event.Count:
			return nil
		}
		next := event.DeepCopy()
		next.ResourceVersion = stored.GetResourceVersion()
		_, _, err = w.registry.Update(ctx, api.Events, event.Namespace, event.Name, next, registry.WriteOptions{})
		if !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			return err
		}
	}
}
