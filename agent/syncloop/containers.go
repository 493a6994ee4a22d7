// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package syncloop

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/berth-run/berth/api"
)

// cleanUpContainersInPod has the dead containers removed that nobody needs.
func (l *Loop) cleanUpContainersInPod(uid types.UID) { l.containers.add(uid) }

// containerCleanUp removes dead containers beside the loop, one pod at a time.
type containerCleanUp struct {
	pods    PodManager
	runtime RuntimeCache
	cleaner ContainerCleaner
	logger  *slog.Logger
	wake    chan struct{}

	mu      sync.Mutex
	pending sets.Set[types.UID]
}

func newContainerCleanUp(c Config) *containerCleanUp {
	return &containerCleanUp{
		pods: c.Pods, runtime: c.Runtime, cleaner: c.Containers, logger: c.Logger,
		wake: make(chan struct{}, 1), pending: sets.New[types.UID](),
	}
}

func (c *containerCleanUp) add(uid types.UID) {
	c.mu.Lock()
	c.pending.Insert(uid)
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *containerCleanUp) take() (types.UID, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pending.PopAny()
}

func (c *containerCleanUp) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.wake:
		}
		for uid, ok := c.take(); ok && ctx.Err() == nil; uid, ok = c.take() {
			c.cleanUp(ctx, uid)
		}
	}
}

// cleanUp does one pod. If it fails, the death of the next container tries again.
// Pods that no source wants are removed whole, by their workers.
func (c *containerCleanUp) cleanUp(ctx context.Context, uid types.UID) {
	pod, ok := c.pods.PodByUID(uid)
	if !ok {
		return
	}
	status, err := c.runtime.GetNewerThan(ctx, uid, time.Time{})
	if err == nil {
		err = c.cleaner.CleanUpContainers(ctx, pod, status)
	}
	if err != nil && ctx.Err() == nil {
		c.logger.Warn("removing dead containers failed", "pod", api.FullName(pod), "uid", uid, "err", err)
	}
}
