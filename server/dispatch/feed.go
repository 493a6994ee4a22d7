// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"context"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/server/registry"
)

// Run keeps the index true to the registry until ctx ends.
func (d *Dispatcher) Run(ctx context.Context) error {
	var g errgroup.Group
	for _, f := range []feed{
		{kind: api.Pods, sink: podSink{d.registry, d.index, d.logger}},
		{kind: api.Secrets, sink: objectSink{d.index, api.Secrets}},
		{kind: api.ConfigMaps, sink: objectSink{d.index, api.ConfigMaps}},
	} {
		f.registry, f.logger = d.registry, d.logger
		g.Go(func() error {
			f.run(ctx)
			return nil
		})
	}
	return g.Wait()
}

// sink takes in what a feed reads.
type sink interface {
	// set: the object exists in this state.
	set(ctx context.Context, r record)
	// remove: the object is gone, as of the record's version.
	remove(r record)
	// retain: at the version, no objects existed but these.
	retain(uids map[types.UID]struct{}, version uint64)
}

// feed carries the objects of one kind from the registry to its sink.
type feed struct {
	kind     *api.Kind
	registry Registry
	sink     sink
	logger   *slog.Logger

	// version is that of the last event; empty means to begin anew.
	version string
}

// run reads until ctx ends. A watch that broke is resumed, one that cannot be
// resumed begins again with all objects.
func (f *feed) run(ctx context.Context) {
	backoff := feedBackoff()
	for ctx.Err() == nil {
		before := f.version
		err := f.watch(ctx)
		if ctx.Err() != nil {
			return
		}
		if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
			f.version = ""
		}
		if f.version != before {
			backoff = feedBackoff()
		}
		f.logger.Warn("a watch of dispatch broke and is taken up again", "kind", f.kind.Name, "from", f.version, "err", err)
		select {
		case <-ctx.Done():
		case <-time.After(backoff.Step()):
		}
	}
}

func feedBackoff() wait.Backoff {
	return wait.Backoff{Duration: 10 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 16, Cap: 2 * time.Second}
}

// watch reads from version on until the watch breaks.
func (f *feed) watch(ctx context.Context) error {
	w, err := f.registry.Watch(ctx, f.kind, "", registry.WatchOptions{ResourceVersion: f.version, Bookmarks: true})
	if err != nil {
		return err
	}
	defer w.Close()
	// seen has what exists while a watch that begins anew still tells it: the
	// first bookmark follows the last object.
	var seen map[types.UID]struct{}
	if f.version == "" {
		seen = map[types.UID]struct{}{}
	}
	for {
		events, err := w.Next(ctx)
		if err != nil {
			return err
		}
		for _, e := range events {
			f.take(ctx, e, seen)
			if e.Type == watch.Bookmark {
				seen = nil
			}
			if seen == nil {
				f.version = e.Object.GetResourceVersion()
			}
		}
	}
}

func (f *feed) take(ctx context.Context, e registry.WatchEvent, seen map[types.UID]struct{}) {
	r := eventRecord(e)
	switch e.Type {
	case watch.Added, watch.Modified:
		if seen != nil {
			seen[e.Object.GetUID()] = struct{}{}
		}
		f.sink.set(ctx, r)
	case watch.Deleted:
		f.sink.remove(r)
	case watch.Bookmark:
		if seen != nil {
			f.sink.retain(seen, r.version)
		}
	}
}
