// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/berth-run/berth/store"
)

// watcher is one watch. The hub fills its buffer and never waits for it.
type watcher struct {
	prefix string
	// limit is how many live events it may hold, and limitBytes how large those may
	// be that it holds as more come.
	limit      int
	limitBytes int64
	// leave takes the watcher out of the hub.
	leave func()
	// ready holds a token after the buffer was filled or the watch ended.
	ready chan struct{}

	mu sync.Mutex
	// past are rebuilt events. They come before the live ones, and do not count
	// as being behind.
	past []store.Event
	live []store.Event
	// liveBytes is the size of the live events' values.
	liveBytes int64
	// told is the revision up to which the buffers tell all.
	told int64
	err  error
}

var _ store.Watcher = (*watcher)(nil)

func newWatcher(prefix string, limit int, limitBytes int64) *watcher {
	return &watcher{prefix: prefix, limit: limit, limitBytes: limitBytes, ready: make(chan struct{}, 1)}
}

// begin puts the events between from and the watcher's joining before those
// that came since.
func (w *watcher) begin(from int64, past []store.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return
	}
	w.past = past
	if len(past) > 0 {
		from = past[len(past)-1].Revision
	}
	if len(w.live) == 0 {
		w.told = from
	}
	w.wake()
}

// Next implements store.Watcher.
func (w *watcher) Next(ctx context.Context) ([]store.Event, error) {
	for {
		if events, err := w.take(); len(events) > 0 || err != nil {
			return events, err
		}
		select {
		case <-w.ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Close implements store.Watcher.
func (w *watcher) Close() {
	w.end(store.ErrClosed)
	w.leave()
}

func (w *watcher) take() ([]store.Event, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return nil, fmt.Errorf("watch %q: %w", w.prefix, w.err)
	}
	events := w.past
	w.past = nil
	if len(events) == 0 {
		events, w.live, w.liveBytes = w.live, nil, 0
	}
	return events, nil
}

// deliver adds those of the events that are under the prefix. It reports false
// when the watch has ended, be it by this.
func (w *watcher) deliver(events []store.Event) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	tooLarge := w.liveBytes > w.limitBytes // before these, which come at once
	for _, event := range events {
		if !strings.HasPrefix(event.Key, w.prefix) {
			continue
		}
		if tooLarge || len(w.live) == w.limit {
			w.endLocked(store.ErrSlowWatcher)
			break
		}
		w.live = append(w.live, event)
		w.liveBytes += int64(len(event.Value) + len(event.Prev))
		w.told = event.Revision
		w.wake()
	}
	return w.err == nil
}

// mark tells an idle reader that the store has come to head.
func (w *watcher) mark(head int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil || w.told >= head || len(w.past)+len(w.live) > 0 {
		return
	}
	w.live = append(w.live, store.Event{Type: store.Progress, Revision: head})
	w.told = head
	w.wake()
}

// end makes Next return err from now on. The first end counts.
func (w *watcher) end(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.endLocked(err)
}

func (w *watcher) endLocked(err error) {
	if w.err != nil {
		return
	}
	w.err = err
	w.past, w.live = nil, nil
	w.wake()
}

func (w *watcher) wake() {
	select {
	case w.ready <- struct{}{}:
	default:
	}
}
