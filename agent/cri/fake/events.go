// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package fake

import (
	"context"
	"sync"

	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// watcher is one reader of events and what it has not read yet.
type watcher struct {
	mu      sync.Mutex
	queue   []*runtimeapi.ContainerEventResponse
	broken  bool
	changed chan struct{} // holds one: look again
}

func (r *Runtime) watch() *watcher {
	w := &watcher{changed: make(chan struct{}, 1)}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watchers[w] = struct{}{}
	return w
}

func (r *Runtime) unwatch(w *watcher) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.watchers, w)
}

// BreakEvents ends all event streams with an error, as when the runtime restarts.
func (r *Runtime) BreakEvents() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for w := range r.watchers {
		w.add(nil)
	}
}

// emit tells all readers of a container, or of a sandbox as its own container.
// The caller holds the lock.
func (r *Runtime) emit(kind runtimeapi.ContainerEventType, containerID, sandboxID string) {
	event := &runtimeapi.ContainerEventResponse{ContainerId: containerID, ContainerEventType: kind, CreatedAt: now()}
	if s, ok := r.sandboxes[sandboxID]; ok {
		event.PodSandboxStatus = s.status()
	}
	for w := range r.watchers {
		w.add(event)
	}
}

// add queues an event; nil breaks the stream.
func (w *watcher) add(event *runtimeapi.ContainerEventResponse) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if event == nil {
		w.broken = true
	} else {
		w.queue = append(w.queue, event)
	}
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

func (w *watcher) next(ctx context.Context) (*runtimeapi.ContainerEventResponse, error) {
	for {
		event, err := w.take()
		if event != nil || err != nil {
			return event, err
		}
		select {
		case <-w.changed:
		case <-ctx.Done():
			return nil, status.FromContextError(ctx.Err()).Err()
		}
	}
}

func (w *watcher) take() (*runtimeapi.ContainerEventResponse, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) > 0 {
		event := w.queue[0]
		w.queue = w.queue[1:]
		return event, nil
	}
	if w.broken {
		return nil, errStreamEnded
	}
	return nil, nil
}
