// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"context"
	"log/slog"
	"time"

	"github.com/berth-run/berth/agent/cri"
	"github.com/berth-run/berth/agent/podruntime/images/credentials"
)

// DefaultProgressDeadline is how long a pull may stand still unless told otherwise. It
// is long, as containerd tells only of whole mebibytes of a layer, and an image may
// have many layers that share a slow connection.
const DefaultProgressDeadline = 5 * time.Minute

// monitorEvery is how often the runtime is asked how far a pull is.
const monitorEvery = time.Second

// progressFunc asks the runtime how far a pull is.
type progressFunc = func(context.Context) (cri.PullProgress, error)

// monitor follows pulls.
type monitor struct {
	// watch returns what to ask about an image's pull; nil for a runtime that does not
	// tell.
	watch    func(credentials.Image) progressFunc
	deadline time.Duration
	log      *slog.Logger
}

// follow keeps the stage up to date until ctx ends, and returns why the pull is to be
// cancelled, or nil.
func (m *monitor) follow(ctx context.Context, image reference, stages *stages) error {
	if m.watch == nil {
		return nil
	}
	progress, stall := m.watch(image.image), &stall{deadline: m.deadline}
	ticker := time.NewTicker(monitorEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		p, err := progress(ctx)
		switch {
		case ctx.Err() != nil, cri.IsUnimplemented(err):
			return nil
		case err != nil:
			m.log.Debug("the progress of a pull is not known", "image", image.full, "err", err)
			continue
		}
		stages.set(p)
		if err := stall.observe(p, time.Now()); err != nil {
			return err
		}
	}
}

// followed calls pull, and cancels it if it does not move.
func (m *monitor) followed(ctx context.Context, image reference, stages *stages, pull func(context.Context) (outcome, error)) (outcome, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	var stalled error
	go func() {
		defer close(ended)
		if stalled = m.follow(ctx, image, stages); stalled != nil {
			cancel(stalled)
		}
	}()
	got, err := pull(ctx)
	cancel(nil)
	<-ended
	if err != nil && stalled != nil {
		err = attemptErrors{{err: stalled}}
	}
	return got, err
}
