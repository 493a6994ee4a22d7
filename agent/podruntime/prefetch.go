// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"context"
	"maps"
	"slices"

	"golang.org/x/sync/semaphore"

	"github.com/berth-run/berth/agent/podruntime/images"
)

// imageWait is a container's image on its way, while the sandbox is being made.
type imageWait struct {
	cancel context.CancelFunc
	done   chan struct{}

	// Set before done is closed.
	id  string
	err error

	// volumes are the images that the container mounts, by reference.
	volumes map[string]*imageWait
}

type imageWaits []*imageWait

// ensureImages begins to bring the images of the containers, all at once. The
// caller ends the returned waits.
func (s *podSync) ensureImages(ctx context.Context, containers []containerToStart) imageWaits {
	waits := make(imageWaits, len(containers))
	volumes := map[string]*imageWait{}
	for i, c := range containers {
		waits[i] = s.ensureImage(ctx, images.Request{
			Pod: s.pod, Container: c.Container, FieldPath: fieldPath(s.pod, c.Name), PullSecrets: s.pullSecrets,
		})
		waits[i].volumes = s.ensureVolumes(ctx, c.Container, volumes)
	}
	return waits
}

func (s *podSync) ensureImage(ctx context.Context, r images.Request) *imageWait {
	ctx, cancel := context.WithCancel(ctx)
	w := &imageWait{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		w.id, w.err = s.images.Ensure(ctx, r)
	}()
	return w
}

// end gives up the images that were not waited for, and sees their pulls end.
func (all imageWaits) end() {
	for _, w := range all {
		w.cancel()
		imageWaits(slices.Collect(maps.Values(w.volumes))).end()
	}
	for _, w := range all {
		<-w.done
	}
}

// wait returns the image's id. While it waits it gives its place among the pods
// being started to another.
func (w *imageWait) wait(ctx context.Context, slot *startSlot) (string, error) {
	select {
	case <-w.done:
		return w.id, w.err
	default:
	}
	starts := slot.release()
	<-w.done // ends with the context
	if err := slot.take(ctx, starts); err != nil {
		return "", err
	}
	return w.id, w.err
}

// startSlot is a place among the pods that may be starting at one time.
type startSlot struct {
	held *semaphore.Weighted
}

func (s *startSlot) take(ctx context.Context, starts *semaphore.Weighted) error {
	if err := starts.Acquire(ctx, 1); err != nil {
		return err
	}
	s.held = starts
	return nil
}

// release gives the place back, if it is held, and returns what it is one of.
func (s *startSlot) release() *semaphore.Weighted {
	held := s.held
	if held != nil {
		held.Release(1)
		s.held = nil
	}
	return held
}
