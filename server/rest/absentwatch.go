// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"context"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/server/rpc"
)

// bookmarkInterval is how often a watch that wants bookmarks gets one.
const bookmarkInterval = time.Minute

// watchAbsent holds a watch open in which nothing happens, until the client goes
// or its timeoutSeconds have passed.
func watchAbsent(w http.ResponseWriter, r *http.Request, k *api.AbsentKind, revision func() int64) error {
	options := queryReader{values: r.URL.Query()}
	initial, bookmarks := options.bool("sendInitialEvents"), options.bool("allowWatchBookmarks")
	timeout := options.int64("timeoutSeconds")
	if options.err != nil {
		return options.err
	}
	q, err := newRequest(w, r)
	if err != nil {
		return err
	}
	if timeout == nil {
		timeout = new(int64)
	}
	ctx, cancel := rpc.WatchContext(r.Context(), *timeout)
	defer cancel()
	b := bookmarker{w: w, q: q, kind: k, revision: revision}
	b.run(ctx, initial && bookmarks, bookmarks)
	return nil
}

// bookmarker is a watch that has nothing but bookmarks.
type bookmarker struct {
	w        http.ResponseWriter
	q        *request
	kind     *api.AbsentKind
	revision func() int64
}

// run sends bookmarks until ctx ends or the client is gone: at first that of the
// end of the initial events, where the client waits for it.
func (b *bookmarker) run(ctx context.Context, initial, more bool) {
	if beginWatch(b.w, b.q) != nil || initial && b.send(true) != nil {
		return
	}
	var tick <-chan time.Time
	if more {
		ticker := time.NewTicker(bookmarkInterval)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
			if b.send(false) != nil {
				return
			}
		}
	}
}

func (b *bookmarker) send(initialEnd bool) error {
	mark, err := bookmarkOf(b.kind, b.revision(), initialEnd)
	if err != nil {
		return err
	}
	object, err := b.q.reshape(mark)
	if err != nil {
		return err
	}
	frame, err := b.q.form.marshalEvent(&watchEvent{kind: string(watch.Bookmark), object: object})
	if err != nil {
		return err
	}
	if _, err := b.w.Write(append(frame, b.q.form.Delimiter()...)); err != nil {
		return err
	}
	return http.NewResponseController(b.w).Flush()
}

// bookmarkOf returns an object of the kind with nothing but the revision: its
// metadata comes first in the encoding of every kind.
func bookmarkOf(k *api.AbsentKind, revision int64, initialEnd bool) (*answerObject, error) {
	obj := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{ResourceVersion: formatRevision(revision)}}
	if initialEnd {
		obj.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	}
	encoded, err := obj.Marshal()
	return &answerObject{
		kind: &k.Kind, gvk: k.GroupVersionKind(), encoded: encoded,
		empty: func() runtime.Object { return &metav1.PartialObjectMetadata{} },
	}, err
}
