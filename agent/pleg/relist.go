// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pleg

import (
	"context"
	"errors"
	"time"
)

var errNoListing = errors.New("no listing has ended")

func orNone(err error) error {
	if err == nil {
		return errNoListing
	}
	return err
}

// relistLoop lists everything after each subscription to events and once per
// period.
func (p *PLEG) relistLoop(ctx context.Context) error {
	for {
		p.relist(ctx)
		timer := time.NewTimer(p.relistPeriod())
		select {
		case <-timer.C:
		case <-p.stream.changed:
		case <-ctx.Done():
		}
		timer.Stop()
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// relistPeriod is short after a listing that failed, and while events cannot be
// relied on. A subscription takes effect some time after it was asked for, so a
// young stream counts as none.
func (p *PLEG) relistPeriod() time.Duration {
	up, age := p.stream.state()
	if up && age >= p.options.EventlessRelistPeriod && p.listed() {
		return p.options.RelistPeriod
	}
	return p.options.EventlessRelistPeriod
}

// listed tells whether the newest listing succeeded.
func (p *PLEG) listed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.relistErr == nil
}

// relist lists all pods and has those read that differ from what is known.
func (p *PLEG) relist(ctx context.Context) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, p.options.CallTimeout)
	defer cancel()
	pods, err := p.runtime.ListPods(ctx)
	p.noteRelist(began, err)
	if err != nil {
		p.logger.Warn("listing the runtime's pods failed", "err", err)
		return
	}
	for _, uid := range p.cache.compare(pods, began) {
		p.queue.add(uid)
	}
}

func (p *PLEG) noteRelist(began time.Time, err error) {
	p.relistTook.Observe(time.Since(began).Seconds())
	p.mu.Lock()
	defer p.mu.Unlock()
	p.relistErr = err
	if err == nil {
		p.lastRelist = began
	}
}
