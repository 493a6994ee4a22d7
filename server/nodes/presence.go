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
	// sessions counts the open sessions: while a new one takes over there are two.
	sessions int
	lastSeen time.Time
}

func newPresence() presence { return presence{agents: map[string]*agent{}} }

// Connect notes that a session of the node begins; the caller calls disconnect
// when it ends.
func (p *presence) Connect(node string) (disconnect func()) {
	p.see(node, +1)
	return func() { p.see(node, -1) }
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
