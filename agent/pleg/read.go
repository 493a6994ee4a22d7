// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pleg

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/podtypes"
)

// readLoop reads the pods of the queue, one after another.
func (p *PLEG) readLoop(ctx context.Context) error {
	for {
		uid, err := p.queue.next(ctx)
		if err != nil {
			return err
		}
		p.read(ctx, uid)
		p.queue.done(uid)
	}
}

// read reads one pod, and tells how it differs from the reading before. A call
// that fails or hangs marks this pod alone; the next relist tries again.
func (p *PLEG) read(ctx context.Context, uid types.UID) {
	began := time.Now()
	status, err := p.podStatus(ctx, uid)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		p.logger.Warn("reading a pod's status failed", "uid", uid, "err", err)
		p.cache.fail(uid, err, began)
		return
	}
	former := p.cache.set(uid, status, began)
	p.outbox.add(compare(uid, former, status)...)
}

func (p *PLEG) podStatus(ctx context.Context, uid types.UID) (*podtypes.PodStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, p.options.CallTimeout)
	defer cancel()
	status, err := p.runtime.PodStatus(ctx, uid)
	switch {
	case errors.Is(err, podtypes.ErrNotFound), err == nil && status == nil:
		return &podtypes.PodStatus{UID: uid, At: time.Now()}, nil
	case err != nil:
		return nil, fmt.Errorf("pod %s: status: %w", uid, err)
	}
	return status, nil
}
