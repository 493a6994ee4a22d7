// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pleg

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/podtypes"
)

// compare derives what happened between two readings of a pod; former may be nil.
func compare(uid types.UID, former, current *podtypes.PodStatus) []podtypes.Event {
	var events []podtypes.Event
	add := func(t podtypes.EventType, id string) {
		events = append(events, podtypes.Event{UID: uid, Type: t, ContainerID: id})
	}
	now := states(current)
	before := states(former)
	for _, c := range containers(former) {
		if _, ok := now[c.ID]; ok {
			continue
		}
		if c.State != podtypes.ContainerExited {
			add(podtypes.ContainerDied, c.ID)
		}
		add(podtypes.ContainerRemoved, c.ID)
	}
	for _, c := range containers(current) {
		if before[c.ID] != c.State {
			add(eventOf(c.State), c.ID)
		}
	}
	if sandboxLost(former, current) {
		add(podtypes.PodSync, "")
	}
	return events
}

func eventOf(s podtypes.ContainerState) podtypes.EventType {
	switch s {
	case podtypes.ContainerRunning:
		return podtypes.ContainerStarted
	case podtypes.ContainerExited:
		return podtypes.ContainerDied
	}
	return podtypes.ContainerChanged
}

// sandboxLost tells whether a sandbox that was usable is not any more.
func sandboxLost(former, current *podtypes.PodStatus) bool {
	if former == nil {
		return false
	}
	still := usableSandboxes(current)
	for id := range usableSandboxes(former) {
		if !still[id] {
			return true
		}
	}
	return false
}

func containers(s *podtypes.PodStatus) []podtypes.ContainerStatus {
	if s == nil {
		return nil
	}
	return s.Containers
}

func states(s *podtypes.PodStatus) map[string]podtypes.ContainerState {
	m := map[string]podtypes.ContainerState{}
	for _, c := range containers(s) {
		m[c.ID] = c.State
	}
	return m
}

// usableSandboxes are those that are ready and have an address where they need one.
func usableSandboxes(s *podtypes.PodStatus) map[string]bool {
	m := map[string]bool{}
	for i := range s.Sandboxes {
		if b := &s.Sandboxes[i]; b.Ready && (b.HostNetwork || len(b.IPs) > 0) {
			m[b.ID] = true
		}
	}
	return m
}

func readiness(s *podtypes.PodStatus) map[string]bool {
	m := map[string]bool{}
	for i := range s.Sandboxes {
		m[s.Sandboxes[i].ID] = s.Sandboxes[i].Ready
	}
	return m
}
