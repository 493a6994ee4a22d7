// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package prober

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/agent/prober/probe"
)

// Runtime runs the commands of probes, and knows which containers have ended.
type Runtime interface {
	// RunInContainer runs a command in a container and returns what it said. One that
	// does not succeed ends with a *podtypes.ExitError, one that took too long with
	// podtypes.ErrTimedOut; another error says nothing of the command.
	RunInContainer(ctx context.Context, pod *corev1.Pod, c *corev1.Container, id string, command []string, timeout time.Duration) (string, error)
	// HasEnded tells whether the container is known to run no more, now and not as it
	// was last read: a pod that is worked on is not read.
	HasEnded(ctx context.Context, id string) bool
}

// Config is what a Manager works with; every field is needed.
type Config struct {
	Runtime  Runtime
	Recorder podtypes.EventRecorder
	// HostIPs are the node's addresses, primary first, for pods in its network.
	HostIPs []string
}

// Manager makes the probes of all pods. It is safe for concurrent use; its methods
// wait for no probe.
type Manager struct {
	cfg     Config
	http    *probe.HTTP
	began   time.Time
	updates chan podtypes.ProbeUpdate
	wake    chan struct{}

	mu sync.Mutex
	// pods has the instances of containers by name, for those with probes.
	pods map[types.UID]map[string]*instance
	byID map[string]*instance
	// begin are the workers that Run is to start.
	begin []*worker
}

// New returns a Manager without pods. Its probes begin with Run.
func New(cfg Config) *Manager {
	return &Manager{
		cfg: cfg, http: probe.NewHTTP(), began: time.Now(),
		updates: make(chan podtypes.ProbeUpdate), wake: make(chan struct{}, 1),
		pods: map[types.UID]map[string]*instance{}, byID: map[string]*instance{},
	}
}

// Updates are the changes of what probes say. A worker waits until its update is taken.
func (m *Manager) Updates() <-chan podtypes.ProbeUpdate { return m.updates }

// Result returns what the container's probe of that kind says; ProbeUnknown if it has
// said nothing.
func (m *Manager) Result(containerID string, kind podtypes.ProbeKind) podtypes.ProbeResult {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i, ok := m.byID[containerID]; ok {
		return i.results[kind]
	}
	return podtypes.ProbeUnknown
}

// Run makes the probes until the context ends, and returns nil when all its workers
// have ended.
func (m *Manager) Run(ctx context.Context) error {
	var workers sync.WaitGroup
	defer workers.Wait()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-m.wake:
		}
		for w, ctx := range m.starting(ctx) {
			workers.Go(func() { w.run(ctx) })
		}
	}
}

// starting returns the workers to start that are still wanted, each with its context.
func (m *Manager) starting(ctx context.Context) map[*worker]context.Context {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := map[*worker]context.Context{}
	for _, w := range m.begin {
		if !w.stopped {
			all[w], w.cancel = context.WithCancel(ctx)
		}
	}
	m.begin = nil
	return all
}

// note keeps what a worker's probe says, and has it known if it is news.
func (m *Manager) note(ctx context.Context, w *worker, says podtypes.ProbeResult) {
	m.mu.Lock()
	news := !w.stopped && w.instance.set(w.kind, says)
	m.mu.Unlock()
	if !news {
		return
	}
	select {
	case m.updates <- podtypes.ProbeUpdate{UID: w.pod.UID, ContainerID: w.instance.id, Kind: w.kind, Result: says}:
	case <-ctx.Done():
	}
}
