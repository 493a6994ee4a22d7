// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Why a session is ended from outside.
var (
	// errNewer: its agent has begun another.
	errNewer = errors.New("a newer session of the node has begun")
	// errUnregistered: the Node that it registered is gone.
	errUnregistered = errors.New("the Node was deleted: its agent registers it anew")
)

// agent says whose session one is.
type agent struct {
	// node is the name of its node, and id tells it from other agents that were
	// given the same one.
	node, id string
	// address is where it connects from.
	address string
}

// takenError refuses an agent whose node another one has.
type takenError struct {
	holder agent
	// node is the Node that the holder registered, if it has.
	node types.UID
	// again: this holder was the reason before.
	again bool
}

func (e *takenError) Error() string {
	return fmt.Sprintf("node %q is connected from another agent (id %s, address %s); give this one another --node-name",
		e.holder.node, e.holder.id, e.holder.address)
}

// sessions lets each node have one session: the newest of its agent. Another agent
// of the node's name has to wait for the end of that: two that replaced each other
// would both run the node's pods.
type sessions struct {
	mu      sync.Mutex
	current map[string]*slot
}

// slot is one session's claim on its node.
type slot struct {
	agent  agent
	cancel context.CancelCauseFunc
	ended  chan struct{}
	// node is the Node that the session registered, once it has.
	node types.UID
	// refused are the ids of agents that wanted the node meanwhile.
	refused map[string]bool
}

func newSessions() *sessions { return &sessions{current: map[string]*slot{}} }

// begin ends the agent's session, if there is one, and returns when it has ended:
// nothing that it does can come after what the new one does. The context that it
// returns ends, because of errNewer, when a session yet newer begins. The caller
// calls end. While another agent has the node, begin fails with a takenError.
func (s *sessions) begin(ctx context.Context, who agent) (_ context.Context, mine *slot, end func(), err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	mine = &slot{agent: who, cancel: cancel, ended: make(chan struct{}), refused: map[string]bool{}}
	older, err := s.claim(mine)
	if err != nil {
		cancel(err)
		return nil, nil, nil, err
	}
	if older != nil {
		older.cancel(errNewer)
		<-older.ended
	}
	return ctx, mine, func() { s.release(mine) }, nil
}

// claim makes mine the node's session, and returns the agent's older one.
func (s *sessions) claim(mine *slot) (older *slot, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	older = s.current[mine.agent.node]
	if older != nil && older.agent.id != mine.agent.id {
		again := older.refused[mine.agent.id]
		older.refused[mine.agent.id] = true
		return nil, &takenError{holder: older.agent, node: older.node, again: again}
	}
	s.current[mine.agent.node] = mine
	return older, nil
}

func (s *sessions) release(mine *slot) {
	mine.cancel(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current[mine.agent.node] == mine {
		delete(s.current, mine.agent.node)
	}
	close(mine.ended)
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
