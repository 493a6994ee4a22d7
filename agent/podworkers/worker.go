// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podworkers

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/api"
)

// worker is what the node has to do for one UID. PodWorkers.mu guards it.
type worker struct {
	uid      types.UID
	fullName string
	state    state

	// The newest that is known of the pod.
	pod, mirror *corev1.Pod
	runtimePod  *podtypes.RuntimePod

	// pending is the one update that waits, 0 for none. A newer one replaces it,
	// but the more telling type stays: create before update before sync.
	pending podtypes.SyncType
	// wake has room for one: there may be something to do.
	wake chan struct{}
	// interrupt ends the step that is under way; nil if none is.
	interrupt context.CancelFunc
	// started: SyncPod was called.
	started bool
	// actedAt is when the last step that did something in the runtime had done it:
	// the runtime's state is known only by what was read since.
	actedAt time.Time
	// failures of the steps, in a row.
	failures int

	// mutate is the first reason that the node gave for ending the pod.
	mutate func(*corev1.PodStatus)
	// waiting is closed when no container runs any more.
	waiting []chan<- struct{}
}

func newWorker(o UpdatePodOptions) *worker {
	w := &worker{uid: o.uid(), wake: make(chan struct{}, 1)}
	if o.Pod != nil {
		w.fullName = api.FullName(o.Pod)
	} else {
		w.fullName = o.RuntimePod.Namespace + "/" + o.RuntimePod.Name
	}
	return w
}

// take notes what an update says of the pod.
func (w *worker) take(o UpdatePodOptions) {
	if o.Pod != nil {
		w.pod, w.mirror = o.Pod, o.Mirror
	} else {
		w.runtimePod = o.RuntimePod
	}
	if w.mutate == nil {
		w.mutate = o.Kill.PodStatusFunc
	}
	if o.Kill.Completed != nil {
		w.waiting = append(w.waiting, o.Kill.Completed)
	}
}

// apply makes the state follow a request, and its effects.
func (w *worker) apply(r request) {
	s, effect := w.state.next(r)
	w.state = s
	if effect.wake {
		w.pend(r.kind)
	}
	if effect.interrupt && w.interrupt != nil {
		w.interrupt()
	}
	w.release()
}

// pend leaves the update for the worker's goroutine.
func (w *worker) pend(kind podtypes.SyncType) {
	if w.pending == 0 || kind < w.pending {
		w.pending = kind
	}
	w.signal()
}

func (w *worker) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// release tells those who wait that no container runs any more.
func (w *worker) release() {
	if w.state.phase < Terminated {
		return
	}
	for _, ch := range w.waiting {
		close(ch)
	}
	w.waiting = nil
}
