// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podworkers

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/api"
)

// request reads an update with what the node said of the pod before.
func (p *PodWorkers) request(o UpdatePodOptions) request {
	now := time.Now()
	if o.Pod == nil {
		return request{kind: o.Type, orphan: true, now: now}
	}
	said, _ := p.statuses.PodStatus(o.Pod.UID)
	return newRequest(o, said, now)
}

// newRequest decides whether an update ends the pod, and why. said is the status
// that the node itself has last given of it, empty if none.
func newRequest(o UpdatePodOptions, said corev1.PodStatus, now time.Time) request {
	kill := o.Type == podtypes.SyncKill
	r := request{
		kind:     o.Type,
		deleted:  o.Pod.DeletionTimestamp != nil || kill && !o.Kill.Evict,
		evicted:  kill && o.Kill.Evict,
		terminal: api.IsTerminal(o.Pod) || api.IsTerminalPhase(said.Phase),
		grace:    grace(o),
		now:      now,
	}
	if left, limited := activeFor(o.Pod, startTime(o.Pod, said), now); limited {
		r.overdue = left <= 0 && !r.ends()
		r.deadline = now.Add(left)
	}
	return r
}

// grace returns how long the pod may take to end if this update ends it.
func grace(o UpdatePodOptions) time.Duration {
	g := api.GracePeriod(o.Pod)
	if s := o.Kill.GracePeriodSeconds; s != nil {
		g = time.Duration(*s) * time.Second
	}
	return max(g, 0)
}

// startTime returns when the node took the pod on, zero if it did not yet. What
// the node says itself is newer than what came back from the source.
func startTime(pod *corev1.Pod, said corev1.PodStatus) time.Time {
	for _, status := range []corev1.PodStatus{said, pod.Status} {
		if status.StartTime != nil {
			return status.StartTime.Time
		}
	}
	return time.Time{}
}
