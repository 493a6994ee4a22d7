// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package syncloop

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/api"
)

// HandlePodAdditions takes pods that are new to the node: it admits them one by
// one, so that each decision knows those before, and hands all to the workers.
// The admit step of SyncPod ends a pod whose Verdict is a refusal. A pod that has
// to wait for its name comes again with the next housekeeping.
func (l *Loop) HandlePodAdditions(pods []*corev1.Pod) {
	running := l.running()
	for _, pod := range admissionOrder(pods, running) {
		l.Pods.SetPod(pod)
		if l.awaitsName(pod, running) {
			continue
		}
		l.admit(pod, running[pod.UID] != nil)
		l.dispatch(podtypes.SyncCreate, pod)
	}
}

// HandlePodUpdates takes pods whose spec or metadata changed, which includes that
// they are being deleted.
func (l *Loop) HandlePodUpdates(pods []*corev1.Pod) {
	for _, pod := range pods {
		l.Pods.SetPod(pod)
		if l.waiting.still(pod) {
			continue
		}
		l.readmit(pod)
		l.Statuses.Reconcile(pod)
		l.dispatch(podtypes.SyncUpdate, pod)
	}
}

// HandlePodRemoves takes pods that their source has no longer.
func (l *Loop) HandlePodRemoves(pods []*corev1.Pod) {
	for _, pod := range pods {
		l.Pods.RemovePod(pod)
		l.waiting.over(pod.UID)
		l.dispatch(podtypes.SyncKill, pod)
	}
}

// HandlePodReconcile takes pods whose status the source holds differently now,
// mostly because the node has reported it. A phase that another has made terminal
// cannot be taken back, so the node makes it true and ends the pod.
func (l *Loop) HandlePodReconcile(pods []*corev1.Pod) {
	for _, pod := range pods {
		l.Pods.SetPod(pod)
		l.Statuses.Reconcile(pod)
		if api.IsTerminal(pod) {
			l.dispatch(podtypes.SyncUpdate, pod)
		}
	}
}

// HandlePodSyncs has pods synced with what their workers know.
func (l *Loop) HandlePodSyncs(uids []types.UID) {
	for _, uid := range uids {
		l.Workers.Resync(uid)
	}
}

func (l *Loop) dispatch(kind podtypes.SyncType, pod *corev1.Pod) {
	l.Workers.DispatchPod(kind, l.allocated(pod), l.Pods.Mirror(pod))
}
