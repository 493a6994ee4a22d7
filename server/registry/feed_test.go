// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/berth-run/berth/api"
)

// scriptedWatch gives what it is told, then breaks when it is told to.
type scriptedWatch struct {
	events chan []WatchEvent
	broken chan error
}

func (w *scriptedWatch) Watch(context.Context, *api.Kind, string, WatchOptions) (Watch, error) {
	return w, nil
}

func (w *scriptedWatch) Next(ctx context.Context) ([]WatchEvent, error) {
	select {
	case events := <-w.events:
		return events, nil
	case err := <-w.broken:
		return nil, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (w *scriptedWatch) Close() {}

type deafSink struct{}

func (deafSink) Set(context.Context, WatchEvent)                        {}
func (deafSink) Remove(WatchEvent)                                      {}
func (deafSink) Retain(context.Context, map[types.UID]struct{}, string) {}

func bookmark(version string) []WatchEvent {
	obj := api.Pods.New()
	obj.SetResourceVersion(version)
	return []WatchEvent{{Type: watch.Bookmark, Object: obj}}
}

func TestFeedTellsWhetherItFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &scriptedWatch{events: make(chan []WatchEvent), broken: make(chan error)}
		feeds := Feeds{NewFeed(w, api.Pods, deafSink{}, slog.New(slog.DiscardHandler))}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); _ = feeds.Run(ctx) }()

		want := func(when, text string) {
			t.Helper()
			synctest.Wait()
			got := ""
			if err := feeds.Ready(t.Context()); err != nil {
				got = err.Error()
			}
			if got != text {
				t.Errorf("%s: %q, want %q", when, got, text)
			}
		}
		want("at the beginning", "pods: not all objects have been read yet")
		w.events <- bookmark("5")
		want("with all objects read", "")
		w.broken <- errors.New("the watcher is too slow")
		want("with a broken watch", "pods: the watcher is too slow")
		time.Sleep(time.Second)
		want("resumed", "")
		cancel()
		<-done
		want("ended", "pods: it has ended")
	})
}
