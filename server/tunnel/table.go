// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package tunnel

import (
	"slices"

	"github.com/hashicorp/yamux"
)

// tunnel is an open one.
type tunnel struct {
	// id is that of its agent.
	id      string
	session *yamux.Session
	// superseded is closed when a newer tunnel of the agent has taken over.
	superseded chan struct{}
}

// tunnels are the open ones of each node, in the order in which they were opened.
// An agent has one. More than one agent has one only while several were given the
// name of one node: which of them it is, its session decides.
type tunnels map[string][]*tunnel

// add puts in a tunnel, and returns the one of the same agent in whose place it is.
func (t tunnels) add(node string, added *tunnel) (older *tunnel) {
	if older = t.of(node, added.id); older != nil {
		t.remove(node, older)
	}
	t[node] = append(t[node], added)
	return older
}

// remove takes out a tunnel, if it is there.
func (t tunnels) remove(node string, gone *tunnel) {
	t[node] = slices.DeleteFunc(t[node], func(o *tunnel) bool { return o == gone })
	if len(t[node]) == 0 {
		delete(t, node)
	}
}

// of returns the tunnel of the agent of that id, or nil.
func (t tunnels) of(node, id string) *tunnel {
	for _, o := range t[node] {
		if o.id == id {
			return o
		}
	}
	return nil
}

// newest returns the tunnel of the node that was opened last, or nil.
func (t tunnels) newest(node string) *tunnel {
	if list := t[node]; len(list) > 0 {
		return list[len(list)-1]
	}
	return nil
}
