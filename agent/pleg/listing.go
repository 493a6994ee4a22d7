// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pleg

import (
	"github.com/berth-run/berth/agent/podtypes"
)

// differs tells whether a listing shows a pod otherwise than its record; a
// reading that failed counts as different, so that it is tried again.
func differs(pod *podtypes.RuntimePod, r *record) bool {
	if r.err != nil || r.status == nil {
		return true
	}
	if len(pod.Containers) != len(r.status.Containers) || len(pod.Sandboxes) != len(r.status.Sandboxes) {
		return true
	}
	known := states(r.status)
	for _, c := range pod.Containers {
		if state, ok := known[c.ID]; !ok || state != c.State {
			return true
		}
	}
	ready := readiness(r.status)
	for _, s := range pod.Sandboxes {
		if isReady, ok := ready[s.ID]; !ok || isReady != s.Ready {
			return true
		}
	}
	return false
}

// listingOf reduces a reading to what a listing shows.
func listingOf(s *podtypes.PodStatus) *podtypes.RuntimePod {
	pod := &podtypes.RuntimePod{UID: s.UID, Namespace: s.Namespace, Name: s.Name}
	for i := range s.Sandboxes {
		pod.Sandboxes = append(pod.Sandboxes, s.Sandboxes[i].Sandbox)
	}
	for i := range s.Containers {
		pod.Containers = append(pod.Containers, s.Containers[i].Container)
	}
	return pod
}
