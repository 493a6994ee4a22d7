// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package syncloop

import (
	"cmp"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/api"
)

// admissionOrder returns the pods in the order in which they are admitted: first
// those that run already, because they were admitted before the agent started,
// then critical ones, then by creation time; ties by resourceVersion and UID.
func admissionOrder(pods []*corev1.Pod, running map[types.UID]*podtypes.RuntimePod) []*corev1.Pod {
	return slices.SortedFunc(slices.Values(pods), func(a, b *corev1.Pod) int {
		return cmp.Or(
			boolOrder(running[a.UID] != nil, running[b.UID] != nil),
			boolOrder(api.IsCritical(a), api.IsCritical(b)),
			a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
			cmp.Compare(len(a.ResourceVersion), len(b.ResourceVersion)), // decimal numbers
			cmp.Compare(a.ResourceVersion, b.ResourceVersion),
			cmp.Compare(a.UID, b.UID),
		)
	})
}

func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// admit gives a pod room on the node, or notes why there is none. A pod that runs
// already is not asked again: another order of arrival after a restart of the
// agent must not end it. One that has ended, or is ending, asks for nothing.
func (l *Loop) admit(pod *corev1.Pod, runs bool) {
	l.verdicts.set(pod.UID, nil)
	if api.IsTerminal(pod) {
		return
	}
	pod = l.restored(pod)
	if !runs && pod.DeletionTimestamp == nil {
		if why := l.Admitter.Admit(pod, l.takingRoom()); why != nil {
			l.Logger.Info("pod is not admitted", "pod", api.FullName(pod), "uid", pod.UID, "err", why)
			l.verdicts.set(pod.UID, why)
			return
		}
	}
	l.admitted[pod.UID] = pod
}

// takingRoom returns the admitted pods that still take room. A pod that is being
// deleted does until its containers have stopped. One whose record is gone does
// not: its source has reckoned the room free and given it away, and a refusal would
// fail the successor for good, while the overlap passes.
func (l *Loop) takingRoom() []*corev1.Pod {
	pods := make([]*corev1.Pod, 0, len(l.admitted))
	for uid, pod := range l.admitted {
		if _, wanted := l.Pods.PodByUID(uid); wanted && l.Workers.CouldHaveRunningContainers(uid) {
			pods = append(pods, pod)
		} else {
			delete(l.admitted, uid)
		}
	}
	return pods
}

// Verdict returns the refusal that the pod met when it came to the node, or nil.
func (l *Loop) Verdict(pod *corev1.Pod) *podtypes.RejectError { return l.verdicts.get(pod.UID) }

// verdicts holds the refusals by UID, for the workers to read.
type verdicts struct {
	mu      sync.Mutex
	refused map[types.UID]*podtypes.RejectError
}

func (v *verdicts) get(uid types.UID) *podtypes.RejectError {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.refused[uid]
}

func (v *verdicts) set(uid types.UID, why *podtypes.RejectError) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if why == nil {
		delete(v.refused, uid)
		return
	}
	if v.refused == nil {
		v.refused = map[types.UID]*podtypes.RejectError{}
	}
	v.refused[uid] = why
}

// retain forgets those that keep does not want.
func (v *verdicts) retain(keep func(types.UID) bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for uid := range v.refused {
		if !keep(uid) {
			delete(v.refused, uid)
		}
	}
}
