// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pleg

import (
	"github.com/berth-run/berth/agent/podtypes"
)

// isNews tells whether a hint says something that the newest reading of the pod does
// not show already. A container goes one way: created, running, exited, removed. A
// hint of what it has left behind tells nothing, however late it comes; most hints
// are of that kind, for most changes are the agent's own, and it has read since.
func (c *cache) isNews(h podtypes.Hint) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.records[h.UID]
	if !ok || r.status == nil || r.err != nil || !r.stale.IsZero() {
		return true
	}
	known, ok := progress(r.status, h.ID)
	if !ok {
		return !h.Removed
	}
	return h.Removed || h.State == podtypes.ContainerUnknown || age(h.State) > known
}

// progress returns how far a container, or a sandbox, has come in a reading.
func progress(s *podtypes.PodStatus, id string) (int, bool) {
	for i := range s.Containers {
		if s.Containers[i].ID == id {
			return age(s.Containers[i].State), true
		}
	}
	usable := usableSandboxes(s)
	for i := range s.Sandboxes {
		switch b := &s.Sandboxes[i]; {
		case b.ID != id:
		case usable[id]:
			return age(podtypes.ContainerRunning), true
		case b.Ready: // its network is not there yet, or not any more
			return age(podtypes.ContainerCreated), true
		default:
			return age(podtypes.ContainerExited), true
		}
	}
	return 0, false
}

// age orders the states that a container goes through. From one that is not known
// all others are news.
func age(s podtypes.ContainerState) int {
	switch s {
	case podtypes.ContainerCreated:
		return 1
	case podtypes.ContainerRunning:
		return 2
	case podtypes.ContainerExited:
		return 3
	}
	return 0
}
