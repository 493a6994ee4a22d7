// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/test/internal/harness"
)

// startLog notes each container that a runtime says it has created or started.
type startLog struct {
	mu   sync.Mutex
	seen map[types.UID][]string
}

// watchStarts follows the runtime's events from now until the test ends.
func (r *runtime) watchStarts() *startLog {
	r.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	stream, err := r.client.Runtime.GetContainerEvents(ctx, &runtimeapi.GetEventsRequest{})
	if err != nil {
		cancel()
		r.t.Fatal(err)
	}
	log := &startLog{seen: map[types.UID][]string{}}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for event, err := stream.Recv(); err == nil; event, err = stream.Recv() {
			log.add(event)
		}
	}()
	r.t.Cleanup(func() {
		cancel()
		<-ended
	})
	return log
}

func (l *startLog) add(e *runtimeapi.ContainerEventResponse) {
	starts := []runtimeapi.ContainerEventType{
		runtimeapi.ContainerEventType_CONTAINER_CREATED_EVENT,
		runtimeapi.ContainerEventType_CONTAINER_STARTED_EVENT,
	}
	// The events of a sandbox name it as if it were a container.
	sandbox := e.GetPodSandboxStatus()
	if !slices.Contains(starts, e.ContainerEventType) || e.ContainerId == sandbox.GetId() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	uid := types.UID(sandbox.GetMetadata().GetUid())
	l.seen[uid] = append(l.seen[uid], e.ContainerEventType.String()+" "+e.ContainerId)
}

func (l *startLog) of(uid types.UID) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.seen[uid])
}

// fence runs another pod on the node and waits until its start is in the log:
// whatever the runtime started before is then there too.
func (w *world) fence(l *startLog, node string) {
	w.t.Helper()
	p := w.create(onNode(pod("fence", app("c")), node))
	w.ready("fence")
	err := harness.Poll(w.ctx(), "the events name the pod fence", func() (bool, error) { return len(l.of(p.UID)) >= 2, nil })
	if err != nil {
		w.t.Fatal(err)
	}
}
