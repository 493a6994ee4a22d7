// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podworkers

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
)

// The predicates say how far a pod has come. Of a UID that has no worker they
// answer false: nothing is known of it here, and what the runtime may have of it
// is the matter of housekeeping.

// IsPodTerminationRequested tells whether the pod is ending or has ended.
func (p *PodWorkers) IsPodTerminationRequested(uid types.UID) bool {
	return p.holds(uid, func(s state) bool { return s.phase >= Terminating })
}

// ShouldPodContainersBeTerminating tells whether no container of the pod may be
// started any more.
func (p *PodWorkers) ShouldPodContainersBeTerminating(uid types.UID) bool {
	return p.IsPodTerminationRequested(uid)
}

// CouldHaveRunningContainers tells whether something of the pod may run.
func (p *PodWorkers) CouldHaveRunningContainers(uid types.UID) bool {
	return p.holds(uid, func(s state) bool { return s.phase <= Terminating })
}

// ShouldPodRuntimeBeRemoved tells whether all that the runtime has of the pod may
// be removed: it was deleted and nothing of it runs.
func (p *PodWorkers) ShouldPodRuntimeBeRemoved(uid types.UID) bool {
	return p.holds(uid, func(s state) bool { return s.phase >= Terminated && !s.deletedAt.IsZero() })
}

func (p *PodWorkers) holds(uid types.UID, is func(state) bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.workers[uid]
	return w != nil && is(w.state)
}

// SyncKnownPods takes the pods that the node should have, forgets the workers
// that are Finished and either not among them or to start anew, and returns the UIDs
// of those that are left. A desired pod that is not in what it returns is for the
// caller to create anew.
func (p *PodWorkers) SyncKnownPods(desired []*corev1.Pod) sets.Set[types.UID] {
	wanted := sets.New[types.UID]()
	for _, pod := range desired {
		wanted.Insert(pod.UID)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	known := sets.New[types.UID]()
	for uid, w := range p.workers {
		if w.state.phase == Finished && (w.state.restart || !wanted.Has(uid)) {
			delete(p.workers, uid)
			p.lastRun[uid] = w.actedAt
			continue
		}
		known.Insert(uid)
	}
	for uid := range p.lastRun {
		if !wanted.Has(uid) {
			delete(p.lastRun, uid)
		}
	}
	return known
}
