// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package config merges what the config sources say of pods into one stream of
// changes for the sync loop: the PodConfig mux.
package config

import (
	"context"
	"log/slog"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/api"
)

// Mux merges sources. A source sends whole sets (SET) or changes; what operation
// it believes in is a hint. The mux works out its own from what it holds, and
// only that goes on: ADD, UPDATE, DELETE, REMOVE and RECONCILE.
//
//	Source("server") ─┐
//	Source("file") ───┼──► Run: storage.merge ──► Updates, unbuffered
//	Source("http") ───┘
//
// Updates of one source arrive in its order. A slow reader of Updates slows the
// sources down. Pods are shared, and changed by nobody.
type Mux struct {
	recorder podtypes.EventRecorder
	logger   *slog.Logger
	sources  map[string]chan podtypes.PodUpdate
	inbox    chan podtypes.PodUpdate
	updates  chan podtypes.PodUpdate

	mu      sync.Mutex
	storage *storage
	ready   map[string]bool
}

// New returns a mux without sources.
func New(recorder podtypes.EventRecorder, logger *slog.Logger) *Mux {
	return &Mux{
		recorder: recorder, logger: logger,
		sources: map[string]chan podtypes.PodUpdate{},
		inbox:   make(chan podtypes.PodUpdate),
		updates: make(chan podtypes.PodUpdate),
		storage: newStorage(),
		ready:   map[string]bool{},
	}
}

// Source declares a source and returns where it sends what it says. Sources are
// declared before Run, those that win a name from others first. Whatever source
// an update names, it counts as from this one.
func (m *Mux) Source(name string) chan<- podtypes.PodUpdate {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.storage.declare(name)
	if m.sources[name] == nil {
		m.sources[name] = make(chan podtypes.PodUpdate)
	}
	return m.sources[name]
}

// Updates delivers the changes for the node. SYNCED is not among them: see Ready.
func (m *Mux) Updates() <-chan podtypes.PodUpdate { return m.updates }

// Ready tells whether the source has said all that it has (SYNCED), and the reader
// of Updates has taken all of it.
func (m *Mux) Ready(source string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ready[source]
}

// AllReady tells whether every declared source is ready.
func (m *Mux) AllReady() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.ready) == len(m.sources)
}

// Pods returns what a source said, whether the node follows it or not.
func (m *Mux) Pods(source string) []*corev1.Pod {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.storage.pods(source)
}

// Run merges until the context ends, and returns nil when its goroutines have
// ended.
func (m *Mux) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	for name, from := range m.sources {
		wg.Go(func() { m.forward(ctx, name, from) })
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case u := <-m.inbox:
			if !m.handle(ctx, u) {
				return nil
			}
		}
	}
}

// forward signs what a source says with its name.
func (m *Mux) forward(ctx context.Context, source string, from <-chan podtypes.PodUpdate) {
	for {
		select {
		case <-ctx.Done():
			return
		case u := <-from:
			u.Source = source
			if !send(ctx, m.inbox, u) {
				return
			}
		}
	}
}

// handle does one update of a source, and returns false if the context ended.
func (m *Mux) handle(ctx context.Context, u podtypes.PodUpdate) bool {
	if u.Op == podtypes.SYNCED {
		m.setReady(u.Source)
		return true
	}
	changed, refused := m.merge(u)
	for _, r := range refused {
		m.tell(u.Source, r)
	}
	for _, c := range changed.inOrder() {
		if !send(ctx, m.updates, c) {
			return false
		}
	}
	return true
}

func (m *Mux) merge(u podtypes.PodUpdate) (changes, []refusal) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.storage.merge(u)
}

func (m *Mux) setReady(source string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.ready[source] {
		m.logger.Info("config source is ready", "source", source)
	}
	m.ready[source] = true
}

// tell says that a pod is not followed because of its name.
func (m *Mux) tell(source string, r refusal) {
	m.logger.Warn("pod name is taken", "pod", api.FullName(r.pod), "uid", r.pod.UID, "source", source, "by", r.by)
	m.recorder.Record(r.pod, "", corev1.EventTypeWarning, "FailedValidation",
		"The name of this pod of source "+source+" is taken by "+r.by)
}

func send(ctx context.Context, to chan<- podtypes.PodUpdate, u podtypes.PodUpdate) bool {
	select {
	case <-ctx.Done():
		return false
	case to <- u:
		return true
	}
}
