// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package syncloop is the heart of the agent: one loop that takes what the config
// sources want, what happened in the runtime, and what is due, and hands each to
// the pod workers.
package syncloop

import (
	"context"
	"log/slog"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/internal/sleep"
)

// housekeepingPeriod is how often the loop looks for what is left over.
const housekeepingPeriod = 2 * time.Second

// Config is what the loop needs of others.
type Config struct {
	// Updates are the changes of the config mux, Events those of the PLEG, Probes those
	// of what probes say.
	Updates <-chan podtypes.PodUpdate
	Events  <-chan podtypes.Event
	Probes  <-chan podtypes.ProbeUpdate

	Sources      Sources
	Pods         PodManager
	Workers      PodWorkers
	Admitter     Admitter
	Resizes      Resizes
	Runtime      RuntimeCache
	RuntimeState RuntimeState
	Statuses     Statuses
	Recorder     podtypes.EventRecorder
	Containers   ContainerCleaner
	Cleaners     []Cleaner
	Logger       *slog.Logger
}

// Loop is the sync loop. Its handlers run on the goroutine of Run, one after
// another, so that what they decide needs no lock; none of them waits for a pod.
type Loop struct {
	Config

	verdicts   verdicts
	lastLoop   stamp
	containers *containerCleanUp

	// waiting are the pods that are not handed on yet.
	waiting waiting
	// admitted are the pods that take room on the node.
	admitted map[types.UID]*corev1.Pod
	// kept is what the cleaners have kept last, when all succeeded.
	kept sets.Set[types.UID]
}

// New returns a loop that begins with Run.
func New(c Config) *Loop {
	return &Loop{
		Config:     c,
		containers: newContainerCleanUp(c),
		waiting:    waiting{},
		admitted:   map[types.UID]*corev1.Pod{},
	}
}

// Run loops until the context ends, and returns nil when its goroutines have.
func (l *Loop) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { l.containers.run(ctx) })
	l.syncLoop(ctx)
	return nil
}

func (l *Loop) syncLoop(ctx context.Context) {
	housekeeping := time.NewTicker(housekeepingPeriod)
	defer housekeeping.Stop()
	wait := newRuntimeWait(time.Now())
	for ctx.Err() == nil {
		l.lastLoop.set(time.Now())
		if err := l.RuntimeState.Err(); err != nil {
			skip, level := wait.next(time.Now())
			l.Logger.Log(ctx, level, "no pods are synced while the runtime has errors", "wait", skip, "err", err)
			_ = sleep.For(ctx, skip) // its end ends the loop
			continue
		}
		wait.over()
		l.syncLoopIteration(ctx, housekeeping.C)
	}
}

// syncLoopIteration waits for one thing to do and does it. What it takes of the
// channels that are ready at once is left to chance, so none starves.
func (l *Loop) syncLoopIteration(ctx context.Context, housekeeping <-chan time.Time) {
	select {
	case <-ctx.Done():
	case u := <-l.Updates:
		l.handleConfig(u)
	case e := <-l.Events:
		l.handleEvent(e)
	case u := <-l.Probes:
		l.handleProbe(u)
	case <-l.Workers.Due():
		l.HandlePodSyncs(l.Workers.GetWork())
	case <-housekeeping:
		l.HandlePodCleanups(ctx)
	}
}

func (l *Loop) handleConfig(u podtypes.PodUpdate) {
	l.Logger.Debug("config update", "op", u.Op.String(), "source", u.Source, "pods", len(u.Pods))
	switch u.Op {
	case podtypes.ADD:
		l.HandlePodAdditions(u.Pods)
	case podtypes.UPDATE, podtypes.DELETE: // a graceful delete is an update until the pod is gone
		l.HandlePodUpdates(u.Pods)
	case podtypes.REMOVE:
		l.HandlePodRemoves(u.Pods)
	case podtypes.RECONCILE:
		l.HandlePodReconcile(u.Pods)
	default:
		l.Logger.Error("config update of an unknown kind", "op", int(u.Op), "source", u.Source)
	}
}

// handleEvent syncs the pod. That a container was removed changes nothing by
// itself: what made it worth removing was an event before.
func (l *Loop) handleEvent(e podtypes.Event) {
	if e.Type != podtypes.ContainerRemoved {
		l.HandlePodSyncs([]types.UID{e.UID})
	}
	if e.Type == podtypes.ContainerDied {
		l.cleanUpContainersInPod(e.UID)
	}
}

// handleProbe reports at once what users are shown of a probe, since the pod's worker
// may be busy for long, and has the pod synced for what else follows.
func (l *Loop) handleProbe(u podtypes.ProbeUpdate) {
	l.Logger.Debug("probe update", "uid", u.UID, "container", u.ContainerID, "probe", u.Kind, "result", u.Result.String())
	pod, ok := l.Pods.PodByUID(u.UID)
	if ok && u.Kind != podtypes.Liveness {
		l.Statuses.Probed(pod)
	}
	if u.Kind != podtypes.Liveness || u.Result == podtypes.ProbeFailure {
		l.HandlePodSyncs([]types.UID{u.UID})
	}
}
