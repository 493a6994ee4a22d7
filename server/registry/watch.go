// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/store"
)

// Watch is a running watch. One goroutine at a time reads it.
type Watch interface {
	// Next blocks for the next events; it never returns none. After the watch's
	// end it returns why: a Status error of reason Expired (410) means that the
	// reader has to list again. ctx bounds this call only.
	Next(ctx context.Context) ([]WatchEvent, error)
	// Close ends the watch. It is safe to call more than once.
	Close()
}

// WatchEvent is one change. Its objects are shared.
type WatchEvent struct {
	Type watch.EventType
	// Object is the object after the change; for DELETED its last state, with the
	// resourceVersion of the removal; for BOOKMARK only its resourceVersion is
	// set.
	Object api.Object
	// Old is what a MODIFIED replaced. Its resourceVersion may be unset.
	Old api.Object

	entry store.Entry
}

// Encoded returns Object in its Kubernetes protobuf encoding, without encoding
// it anew. It must not be called on a BOOKMARK.
func (e WatchEvent) Encoded() []byte {
	return api.WithResourceVersion(e.entry.Value, formatRevision(e.entry.Revision))
}

// Watch delivers the changes of a kind in one namespace or, if it is empty, in
// all. A version that it cannot start from is refused with reason Expired (410).
func (r *Registry) Watch(ctx context.Context, k *api.Kind, namespace string, o WatchOptions) (Watch, error) {
	selector, err := api.ParseSelector(k, o.LabelSelector, o.FieldSelector)
	if err != nil {
		return nil, err
	}
	revision, err := parseRevision(o.ResourceVersion)
	if err != nil {
		return nil, err
	}
	w := &watcher{registry: r, kind: k, name: o.Name, selector: selector, bookmarks: o.Bookmarks}
	prefix := watchPrefix(k, namespace, o.Name)
	if revision, err = w.begin(ctx, prefix, revision, o.SendInitialEvents); err != nil {
		return nil, err
	}
	if w.changes, err = r.store.Watch(ctx, prefix, revision); err != nil {
		return nil, watchError(k, o.ResourceVersion, err)
	}
	return w, nil
}

// watchPrefix is as narrow as the watch allows. A name's prefix has other names
// too: the watch still compares.
func watchPrefix(k *api.Kind, namespace, name string) string {
	if k.Namespaced && namespace == "" {
		return prefixOf(k, "")
	}
	return keyOf(k, namespace, name)
}

func watchError(k *api.Kind, resourceVersion string, err error) error {
	if errors.Is(err, store.ErrCompacted) {
		return apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %s", resourceVersion))
	}
	return storeError(k, "", err)
}

// watcher turns the store's events into those of one watch.
type watcher struct {
	registry  *Registry
	kind      *api.Kind
	name      string
	selector  api.Selector
	bookmarks bool

	initial []WatchEvent
	changes store.Watcher
}

// begin returns the revision that changes are watched from. Where what exists is
// to come first, it is listed.
func (w *watcher) begin(ctx context.Context, prefix string, revision int64, send *bool) (int64, error) {
	switch {
	case send == nil && revision > 0:
		return revision, nil
	case send == nil:
		return w.listCurrent(ctx, prefix)
	case !*send && revision > 0:
		return revision, nil
	case !*send:
		return w.registry.store.Head(), nil
	}
	if err := w.registry.requireReached(revision); err != nil {
		return 0, err
	}
	head, err := w.listCurrent(ctx, prefix)
	if err == nil && w.bookmarks {
		w.initial[len(w.initial)-1].Object.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	}
	return head, err
}

// listCurrent keeps what exists now as the first events.
func (w *watcher) listCurrent(ctx context.Context, prefix string) (revision int64, err error) {
	page, err := w.registry.store.List(ctx, prefix, store.ListOptions{})
	if err != nil {
		return 0, storeError(w.kind, "", err)
	}
	for _, entry := range page.Entries {
		obj, err := w.registry.decode(w.kind, entry)
		if err != nil {
			return 0, err
		}
		if w.matches(obj) {
			w.initial = append(w.initial, WatchEvent{Type: watch.Added, Object: obj, entry: entry})
		}
	}
	if w.bookmarks {
		w.initial = append(w.initial, w.bookmark(page.Revision))
	}
	return page.Revision, nil
}

func (w *watcher) Next(ctx context.Context) ([]WatchEvent, error) {
	if events := w.initial; len(events) > 0 {
		w.initial = nil
		return events, nil
	}
	for {
		changes, err := w.changes.Next(ctx)
		if err != nil {
			return nil, storeError(w.kind, "", err)
		}
		events, err := w.translate(changes)
		if err != nil || len(events) > 0 {
			return events, err
		}
	}
}

func (w *watcher) Close() { w.changes.Close() }

// translate returns what the store's events mean to this watch.
func (w *watcher) translate(changes []store.Event) (events []WatchEvent, err error) {
	for i := range changes {
		event, ok, err := w.event(&changes[i])
		if err != nil {
			return nil, err
		}
		if ok {
			events = append(events, event)
		}
	}
	return events, nil
}

func (w *watcher) event(c *store.Event) (event WatchEvent, ok bool, err error) {
	switch c.Type {
	case store.Progress:
		return w.bookmark(c.Revision), w.bookmarks, nil
	case store.Created:
		return w.created(c)
	case store.Updated:
		return w.updated(c)
	case store.Deleted:
		return w.deleted(c)
	}
	return WatchEvent{}, false, nil
}

func (w *watcher) created(c *store.Event) (WatchEvent, bool, error) {
	e := store.Entry{Key: c.Key, Value: c.Value, Revision: c.Revision}
	obj, err := w.registry.decode(w.kind, e)
	if err != nil {
		return WatchEvent{}, false, err
	}
	return WatchEvent{Type: watch.Added, Object: obj, entry: e}, w.matches(obj), nil
}

// updated tells an object that begins to match as ADDED and one that no longer
// matches as DELETED.
func (w *watcher) updated(c *store.Event) (WatchEvent, bool, error) {
	e := store.Entry{Key: c.Key, Value: c.Value, Revision: c.Revision}
	obj, err := w.registry.decode(w.kind, e)
	if err != nil {
		return WatchEvent{}, false, err
	}
	old, err := w.registry.memo.before(w.kind, c.Key, c.Prev, c.Revision)
	if err != nil {
		return WatchEvent{}, false, apierrors.NewInternalError(err)
	}
	switch now, before := w.matches(obj), w.matches(old); {
	case now && before:
		return WatchEvent{Type: watch.Modified, Object: obj, Old: old, entry: e}, true, nil
	case now:
		return WatchEvent{Type: watch.Added, Object: obj, entry: e}, true, nil
	case before:
		return w.gone(c, old), true, nil
	}
	return WatchEvent{}, false, nil
}

func (w *watcher) deleted(c *store.Event) (WatchEvent, bool, error) {
	last, err := w.registry.memo.before(w.kind, c.Key, c.Prev, c.Revision)
	if err != nil {
		return WatchEvent{}, false, apierrors.NewInternalError(err)
	}
	return w.gone(c, last), w.matches(last), nil
}

// gone tells the last state that matched, at the revision of the change that
// ended it.
func (w *watcher) gone(c *store.Event, last api.Object) WatchEvent {
	return WatchEvent{
		Type: watch.Deleted, Object: atRevision(last, c.Revision),
		entry: store.Entry{Key: c.Key, Value: c.Prev, Revision: c.Revision},
	}
}

func (w *watcher) matches(obj api.Object) bool {
	return (w.name == "" || obj.GetName() == w.name) && w.selector.Matches(obj)
}

func (w *watcher) bookmark(revision int64) WatchEvent {
	obj := w.kind.New()
	obj.SetResourceVersion(formatRevision(revision))
	return WatchEvent{Type: watch.Bookmark, Object: obj}
}
