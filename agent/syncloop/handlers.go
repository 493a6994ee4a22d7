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
// The admit step of SyncPod ends a pod whose Verdict is a refusal.
func (l *Loop) HandlePodAdditions(pods []*corev1.Pod) {
	running := l.running()
	for _, pod := range admissionOrder(pods, running) {
		l.killNamesakes(pod, running)
		l.Pods.SetPod(pod)
		l.admit(pod, running[pod.UID] != nil)
		l.dispatch(podtypes.SyncCreate, pod)
	}
}

// HandlePodUpdates takes pods whose spec or metadata changed, which includes that
// they are being deleted.
func (l *Loop) HandlePodUpdates(pods []*corev1.Pod) {
	for _, pod := range pods {
		l.Pods.SetPod(pod)
		if l.admitted[pod.UID] != nil {
			l.admitted[pod.UID] = pod
		}
		l.Statuses.Reconcile(pod)
		l.dispatch(podtypes.SyncUpdate, pod)
	}
}

// HandlePodRemoves takes pods that their source has no longer.
func (l *Loop) HandlePodRemoves(pods []*corev1.Pod) {
	for _, pod := range pods {
		l.Pods.RemovePod(pod)
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
	l.Workers.DispatchPod(kind, pod, l.Pods.Mirror(pod))
}

// running returns what the runtime has, by UID.
func (l *Loop) running() map[types.UID]*podtypes.RuntimePod {
	running := map[types.UID]*podtypes.RuntimePod{}
	for _, pod := range l.Runtime.Pods() {
		running[pod.UID] = pod
	}
	return running
}

// killNamesakes ends what the runtime still has of earlier pods of the name, of
// which no source spoke since the agent's start: that the name has a new UID says
// that they are not wanted. The worker of the new pod waits for them.
func (l *Loop) killNamesakes(pod *corev1.Pod, running map[types.UID]*podtypes.RuntimePod) {
	for uid, other := range running {
		if uid == pod.UID || other.Namespace != pod.Namespace || other.Name != pod.Name {
			continue
		}
		if _, wanted := l.Pods.PodByUID(uid); !wanted {
			l.Logger.Info("ending a pod that was replaced", "pod", api.FullName(pod), "uid", uid, "successor", pod.UID)
			l.Workers.KillOrphan(other)
		}
	}
}
