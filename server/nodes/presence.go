// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"sync"
	"time"
)

// presence remembers in memory which agents are connected and when each was last
// heard of.
type presence struct {
	mu     sync.Mutex
	agents map[string]*agent
}

type agent struct {
	// id is that of the agent whose session began last.
	id string
	// sessions counts the open sessions: while a new one takes over there are two.
	sessions int
	lastSeen time.Time
}

func newPresence() presence { return presence{agents: map[string]*agent{}} }

// Connect notes that a session of the node begins, and with the agent of which id;
// the caller calls disconnect when it ends.
func (p *presence) Connect(node, id string) (disconnect func()) {
	p.see(node, +1)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.agents[node].id = id
	return func() { p.see(node, -1) }
}

// Agent returns the id of the agent that the node has, or had last; false means
// none since this server started.
func (p *presence) Agent(node string) (id string, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a := p.agents[node]; a != nil {
		return a.id, true
	}
	return "", false
}

// Heartbeat notes that the agent has just been heard of.
func (p *presence) Heartbeat(node string) { p.see(node, 0) }

func (p *presence) see(node string, sessions int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.agents[node]
	if a == nil {
		a = &agent{}
		p.agents[node] = a
	}
	a.sessions += sessions
	// The end of a session is no sign of life.
	if sessions >= 0 {
		a.lastSeen = time.Now()
	}
}

// Connected tells whether the node's agent has a session.
func (p *presence) Connected(node string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.agents[node]
	return a != nil && a.sessions > 0
}

// LastSeen returns when the node's agent was last heard of; false means not
// since this server started.
func (p *presence) LastSeen(node string) (time.Time, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.agents[node]
	if a == nil {
		return time.Time{}, false
	}
	return a.lastSeen, true
}
