// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/berth-run/berth/api"
)

// Watcher opens watches; a *Registry is one.
type Watcher interface {
	Watch(ctx context.Context, k *api.Kind, namespace string, o WatchOptions) (Watch, error)
}

// Sink takes in the objects of one kind. Its methods are called one after another.
type Sink interface {
	// Set: the object exists in the event's state.
	Set(ctx context.Context, e WatchEvent)
	// Remove: the object is gone, as of its resourceVersion.
	Remove(e WatchEvent)
	// Retain: at that version, no objects existed but these. It follows the Set of
	// each of them.
	Retain(ctx context.Context, uids map[types.UID]struct{}, resourceVersion string)
}

// Feed keeps a sink true to the objects of one kind in all namespaces.
type Feed struct {
	watcher Watcher
	kind    *api.Kind
	sink    Sink
	log     *slog.Logger
	// version is that of the last event; empty means to begin anew.
	version string

	mu sync.Mutex
	// behind is why the sink may lack something.
	behind error
}

var (
	errBeginning = errors.New("not all objects have been read yet")
	errEnded     = errors.New("it has ended")
)

// NewFeed returns a feed that Run keeps going.
func NewFeed(w Watcher, k *api.Kind, sink Sink, log *slog.Logger) *Feed {
	return &Feed{watcher: w, kind: k, sink: sink, log: log, behind: errBeginning}
}

// Run feeds the sink until ctx ends. A watch that broke is resumed; one that
// cannot be resumed begins again with all objects.
func (f *Feed) Run(ctx context.Context) {
	defer f.setBehind(errEnded)
	backoff := followBackoff()
	for ctx.Err() == nil {
		before := f.version
		err := f.watch(ctx)
		if ctx.Err() != nil {
			return
		}
		f.setBehind(err)
		if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
			f.version = ""
		}
		if f.version != before {
			backoff = followBackoff()
		}
		f.log.Warn("a watch broke and is taken up again", "kind", f.kind.Name, "from", f.version, "err", err)
		select {
		case <-ctx.Done():
		case <-time.After(backoff.Step()):
		}
	}
}

// Err returns why the sink may lack something: the objects that existed are not
// all read yet, or the watch broke and is not taken up yet.
func (f *Feed) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.behind == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", f.kind.Resource, f.behind)
}

func (f *Feed) setBehind(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.behind = err
}

func followBackoff() wait.Backoff {
	return wait.Backoff{Duration: 10 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 16, Cap: 2 * time.Second}
}

// watch reads from version on until the watch breaks.
func (f *Feed) watch(ctx context.Context) error {
	w, err := f.watcher.Watch(ctx, f.kind, "", WatchOptions{ResourceVersion: f.version, Bookmarks: true})
	if err != nil {
		return err
	}
	defer w.Close()
	// seen has what exists while a watch that begins anew still tells it: the
	// first bookmark follows the last object.
	var seen map[types.UID]struct{}
	if f.version == "" {
		seen = map[types.UID]struct{}{}
	} else {
		f.setBehind(nil)
	}
	for {
		events, err := w.Next(ctx)
		if err != nil {
			return err
		}
		for _, e := range events {
			f.take(ctx, e, seen)
			if e.Type == watch.Bookmark && seen != nil {
				seen = nil
				f.setBehind(nil)
			}
			if seen == nil {
				f.version = e.Object.GetResourceVersion()
			}
		}
	}
}

func (f *Feed) take(ctx context.Context, e WatchEvent, seen map[types.UID]struct{}) {
	switch e.Type {
	case watch.Added, watch.Modified:
		if seen != nil {
			seen[e.Object.GetUID()] = struct{}{}
		}
		f.sink.Set(ctx, e)
	case watch.Deleted:
		f.sink.Remove(e)
	case watch.Bookmark:
		if seen != nil {
			f.sink.Retain(ctx, seen, e.Object.GetResourceVersion())
		}
	}
}
