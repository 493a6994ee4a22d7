// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"context"
	"errors"
	"sync"
)

// errNewer ends a session whose node has begun another.
var errNewer = errors.New("a newer session of the node has begun")

// sessions lets each node have one session: the newest.
type sessions struct {
	mu      sync.Mutex
	current map[string]*slot
}

// slot is one session's claim on its node.
type slot struct {
	cancel context.CancelCauseFunc
	ended  chan struct{}
}

func newSessions() *sessions { return &sessions{current: map[string]*slot{}} }

// begin ends the node's session, if there is one, and returns when it has ended:
// nothing that it does can come after what the new one does. The context that it
// returns ends, because of errNewer, when a session yet newer begins. The caller
// calls end.
func (s *sessions) begin(ctx context.Context, node string) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	mine := &slot{cancel: cancel, ended: make(chan struct{})}
	s.mu.Lock()
	older := s.current[node]
	s.current[node] = mine
	s.mu.Unlock()
	if older != nil {
		older.cancel(errNewer)
		<-older.ended
	}
	return ctx, func() {
		cancel(nil)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.current[node] == mine {
			delete(s.current, node)
		}
		close(mine.ended)
	}
}
