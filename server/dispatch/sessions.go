// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"context"
	"errors"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Why a session is ended from outside.
var (
	// errNewer: its node has begun another.
	errNewer = errors.New("a newer session of the node has begun")
	// errUnregistered: the Node that it registered is gone.
	errUnregistered = errors.New("the Node was deleted: its agent registers it anew")
)

// sessions lets each node have one session: the newest.
type sessions struct {
	mu      sync.Mutex
	current map[string]*slot
}

// slot is one session's claim on its node.
type slot struct {
	cancel context.CancelCauseFunc
	ended  chan struct{}
	// node is the Node that the session registered, once it has.
	node types.UID
}

func newSessions() *sessions { return &sessions{current: map[string]*slot{}} }

// begin ends the node's session, if there is one, and returns when it has ended:
// nothing that it does can come after what the new one does. The context that it
// returns ends, because of errNewer, when a session yet newer begins. The caller
// calls end.
func (s *sessions) begin(ctx context.Context, node string) (_ context.Context, mine *slot, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	mine = &slot{cancel: cancel, ended: make(chan struct{})}
	s.mu.Lock()
	older := s.current[node]
	s.current[node] = mine
	s.mu.Unlock()
	if older != nil {
		older.cancel(errNewer)
		<-older.ended
	}
	return ctx, mine, func() {
		cancel(nil)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.current[node] == mine {
			delete(s.current, node)
		}
		close(mine.ended)
	}
}

// registered notes which Node the session has registered.
func (s *sessions) registered(mine *slot, node types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	mine.node = node
}

// unregistered ends the session that registered this Node, which is gone.
func (s *sessions) unregistered(name string, node types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if current := s.current[name]; current != nil && current.node == node {
		current.cancel(errUnregistered)
	}
}

// nodes returns the Nodes that sessions have registered.
func (s *sessions) nodes() map[string]types.UID {
	s.mu.Lock()
	defer s.mu.Unlock()
	nodes := map[string]types.UID{}
	for name, current := range s.current {
		if current.node != "" {
			nodes[name] = current.node
		}
	}
	return nodes
}
