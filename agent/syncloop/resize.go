// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package syncloop

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/agent/resize"
	"github.com/berth-run/berth/api"
)

// l.admitted has the pods as they are allocated. What a resize asks for beyond is
// looked at when it comes and, while it waits, with each housekeeping: room appears
// when others end, shrink or go.

// allocated returns the pod with the resources that the node has allocated to it, as
// all who follow the loop see it.
func (l *Loop) allocated(pod *corev1.Pod) *corev1.Pod {
	if admitted := l.admitted[pod.UID]; admitted != nil {
		return resize.Allocated(pod, admitted)
	}
	return pod
}

// Allocated returns all pods with what is allocated to them. It is for the cleaners,
// which are called on the loop.
func (l *Loop) Allocated() []*corev1.Pod {
	pods := l.Pods.Pods()
	for i := range pods {
		pods[i] = l.allocated(pods[i])
	}
	return pods
}

// readmit takes in a new version of an admitted pod, and allocates what it asks for if
// there is room.
func (l *Loop) readmit(pod *corev1.Pod) {
	before := l.admitted[pod.UID]
	switch {
	case before == nil:
	case resize.Same(pod, before):
		l.Resizes.SetPending(pod.UID, nil)
		l.admitted[pod.UID] = pod
	case pod.DeletionTimestamp != nil || api.IsTerminal(pod):
		l.Resizes.SetPending(pod.UID, nil)
		l.admitted[pod.UID] = resize.Allocated(pod, before)
	default:
		l.admitted[pod.UID] = l.resize(pod, before)
	}
}

// resize decides on what a pod asks for, and returns the pod as it is allocated then.
// Until all sources have spoken it is not known what others have.
func (l *Loop) resize(pod, before *corev1.Pod) *corev1.Pod {
	if !l.Sources.AllReady() {
		return resize.Allocated(pod, before)
	}
	if why := l.Admitter.Resize(pod, l.takingRoom()); why != nil {
		l.refuseResize(pod, why)
		return resize.Allocated(pod, before)
	}
	l.Resizes.SetPending(pod.UID, nil)
	l.Resizes.SetError(pod.UID, "")
	l.Logger.Info("pod is resized", "pod", api.FullName(pod), "uid", pod.UID, "generation", pod.Generation)
	l.Recorder.Record(pod, "", corev1.EventTypeNormal, "ResizeStarted", resize.Message("started", pod, ""))
	l.kept = nil // the class of the pod weighs something else
	return pod
}

func (l *Loop) refuseResize(pod *corev1.Pod, why *podtypes.RejectError) {
	if !l.Resizes.SetPending(pod.UID, why) {
		return
	}
	l.Logger.Info("pod is not resized", "pod", api.FullName(pod), "uid", pod.UID, "err", why)
	event, what := "ResizeDeferred", "deferred"
	if why.Reason == corev1.PodReasonInfeasible {
		event, what = "ResizeInfeasible", "infeasible"
	}
	l.Recorder.Record(pod, "", corev1.EventTypeWarning, event, resize.Message(what, pod, why.Message))
}

// retryResizes looks again at the resizes that wait, the more important pods first.
func (l *Loop) retryResizes() {
	for _, pod := range l.unallocated() {
		before, why := l.admitted[pod.UID], l.Resizes.Of(pod.UID).Pending
		l.readmit(pod)
		now := l.Resizes.Of(pod.UID).Pending
		if !resize.Same(before, l.admitted[pod.UID]) || ptr.Deref(why, podtypes.RejectError{}) != ptr.Deref(now, podtypes.RejectError{}) {
			l.dispatch(podtypes.SyncUpdate, pod)
		}
	}
}

// unallocated returns the pods that ask for other resources than they have.
func (l *Loop) unallocated() []*corev1.Pod {
	var pods []*corev1.Pod
	for uid, admitted := range l.admitted {
		if pod, ok := l.Pods.PodByUID(uid); ok && !resize.Same(pod, admitted) {
			pods = append(pods, pod)
		}
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int {
		return cmp.Or(
			-cmp.Compare(ptr.Deref(a.Spec.Priority, 0), ptr.Deref(b.Spec.Priority, 0)),
			cmp.Compare(classOrder[api.QoSClass(a)], classOrder[api.QoSClass(b)]),
			resizeWaitsSince(a).Time.Compare(resizeWaitsSince(b).Time),
			cmp.Compare(a.UID, b.UID),
		)
	})
	return pods
}

var classOrder = map[corev1.PodQOSClass]int{corev1.PodQOSGuaranteed: 0, corev1.PodQOSBurstable: 1, corev1.PodQOSBestEffort: 2}

func resizeWaitsSince(pod *corev1.Pod) (since metav1.Time) {
	if c := api.PodCondition(&pod.Status, corev1.PodResizePending); c != nil {
		since = c.LastTransitionTime
	}
	return since
}

// restored returns a pod that comes to this agent as the one before had allocated it.
// Why a resize waits is as the server has it, until it is looked at again.
func (l *Loop) restored(pod *corev1.Pod) *corev1.Pod {
	allocated := resize.Restored(pod)
	if c := api.PodCondition(&pod.Status, corev1.PodResizePending); c != nil && !resize.Same(pod, allocated) {
		l.Resizes.SetPending(pod.UID, &podtypes.RejectError{Reason: c.Reason, Message: c.Message})
	}
	return allocated
}
