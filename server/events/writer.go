// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package events

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/server/registry"
)

// Writer stores events.
type Writer struct{ registry Registry }

// Store stores an event. One that repeats comes again under its name with a higher
// count, which replaces a lower one.
func (w Writer) Store(ctx context.Context, event *corev1.Event) error {
	// What comes again is mostly there: to try to create it would be in vain.
	if event.Count > 1 {
		if err := w.raise(ctx, event); !apierrors.IsNotFound(err) {
			return err
		}
	}
	for {
		if err := w.create(ctx, event); !apierrors.IsAlreadyExists(err) {
			return err
		}
		if err := w.raise(ctx, event); !apierrors.IsNotFound(err) {
			return err
		}
	}
}

// create stores a new event, but not into a namespace that is gone or being ended:
// that takes its events with it.
func (w Writer) create(ctx context.Context, event *corev1.Event) error {
	_, _, err := w.registry.Create(ctx, api.Events, event, registry.WriteOptions{})
	if apierrors.IsNotFound(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return nil
	}
	return err
}

// raise puts the event in the place of the stored one, unless that counts as much.
func (w Writer) raise(ctx context.Context, event *corev1.Event) error {
	for {
		stored, err := w.registry.Get(ctx, api.Events, event.Namespace, event.Name)
		if err != nil {
			return err
		}
		if stored.(*corev1.Event).Count >= event.Count {
			return nil
		}
		next := event.DeepCopy()
		next.ResourceVersion = stored.GetResourceVersion()
		_, _, err = w.registry.Update(ctx, api.Events, event.Namespace, event.Name, next, registry.WriteOptions{})
		if !apierrors.IsConflict(err) {
			return err
		}
	}
}
