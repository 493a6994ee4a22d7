// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"errors"
	"strings"
	"sync"
)

// Feeds run together.
type Feeds []*Feed

// Run runs all feeds until ctx ends.
func (fs Feeds) Run(ctx context.Context) error {
	var running sync.WaitGroup
	for _, f := range fs {
		running.Go(func() { f.Run(ctx) })
	}
	running.Wait()
	return nil
}

// Ready returns why some sink may lack something.
func (fs Feeds) Ready(context.Context) error {
	var errs []string
	for _, f := range fs {
		if err := f.Err(); err != nil {
			errs = append(errs, err.Error())
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return errors.New(strings.Join(errs, "; "))
}
