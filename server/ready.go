// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"

	"github.com/berth-run/berth/server/rest"
)

// ready are the checks of /readyz: users are served, and agents get what they ask
// for.
func (s *Server) ready() []rest.Check {
	return []rest.Check{
		{Name: "store", Func: s.store.Check},
		{Name: "dispatch", Func: s.dispatch.Ready},
		{Name: "scheduler", Func: s.feeds.Ready},
		{Name: "listeners", Func: s.listening},
		{Name: "shutdown", Func: s.staying},
	}
}

// listening returns which listener nobody serves.
func (s *Server) listening(context.Context) error {
	for _, l := range s.listeners {
		if !l.serving.Load() {
			return fmt.Errorf("%s on %s is not served", l.name, l.Addr())
		}
	}
	return nil
}

var errShutdown = errors.New("the server is shutting down")

func (s *Server) staying(context.Context) error {
	if s.shutdown.Load() {
		return errShutdown
	}
	return nil
}
