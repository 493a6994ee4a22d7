// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rungroup runs the long-lived parts of a program together: when one
// ends, all end.
package rungroup

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Group is a set of parts. The zero value is ready to use.
type Group struct {
	parts []part
}

type part struct {
	name string
	run  func(context.Context) error
}

// Add adds a part. Its run function returns nil when its context has ended and
// everything that it started has ended too.
func (g *Group) Add(name string, run func(context.Context) error) {
	g.parts = append(g.parts, part{name, run})
}

// Run runs all parts until ctx ends or one of them returns, ends the others in
// the reverse of the order in which they were added, each after the one before
// it has returned, and then returns what went wrong, wrapped with the part's name.
func (g *Group) Run(ctx context.Context) error {
	stop, stopped := context.WithCancel(ctx)
	defer stopped()

	var mu sync.Mutex
	var errs []error
	cancels := make([]context.CancelFunc, len(g.parts))
	done := make([]chan struct{}, len(g.parts))
	for i, p := range g.parts {
		partCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
		cancels[i], done[i] = cancel, make(chan struct{})
		go func() {
			defer close(done[i])
			defer stopped()
			if err := p.run(partCtx); err != nil && !errors.Is(err, context.Canceled) {
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, fmt.Errorf("%s: %w", p.name, err))
			}
		}()
	}

	<-stop.Done()
	for i := len(g.parts) - 1; i >= 0; i-- {
		cancels[i]()
		<-done[i]
	}
	return errors.Join(errs...)
}
