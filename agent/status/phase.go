// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/api"
)

// tally counts containers by how far they are.
type tally struct {
	// pendingInit: init containers that have not done their work.
	pendingInit int
	// pendingSidecar: restartable init containers that have not started yet.
	pendingSidecar int
	// failedInit: init containers that failed; lostInit: those that are not tried again.
	failedInit, lostInit int
	running              int
	// waiting: regular containers or sidecars that never started.
	waiting int
	// stopped: regular containers that ended; toRestart: those that are started again.
	stopped, toRestart int
	succeeded          int
}

// getPhase derives the phase by the kubelet's rules: Pending until every
// container has started once, Running as long as one runs or is to run again,
// then Succeeded if all ended well and Failed otherwise. Ended tells that none
// is to run again.
func getPhase(pod *corev1.Pod, status *corev1.PodStatus, ended bool) corev1.PodPhase {
	t := count(pod, status)
	switch {
	case t.lostInit > 0 || t.failedInit > 0 && ended:
		return corev1.PodFailed
	case t.pendingInit > 0 || t.failedInit > 0 || t.waiting > 0:
		return corev1.PodPending
	case t.pendingSidecar > 0 && t.running+t.stopped == 0:
		return corev1.PodPending
	case t.running > 0:
		return corev1.PodRunning
	case !ended && t.toRestart > 0:
		return corev1.PodRunning
	case t.stopped == t.succeeded:
		return corev1.PodSucceeded
	}
	return corev1.PodFailed
}

func count(pod *corev1.Pod, status *corev1.PodStatus) tally {
	var t tally
	for i := range pod.Spec.InitContainers {
		c, s := &pod.Spec.InitContainers[i], &status.InitContainerStatuses[i]
		if api.IsSidecar(c) {
			t.addSidecar(s)
		} else {
			t.addInit(s, &pod.Spec, c)
		}
	}
	for i := range status.ContainerStatuses {
		t.addRegular(&status.ContainerStatuses[i], &pod.Spec, &pod.Spec.Containers[i])
	}
	return t
}

func (t *tally) addInit(s *corev1.ContainerStatus, spec *corev1.PodSpec, c *corev1.Container) {
	end := lastEnd(s)
	switch {
	case end == nil || s.State.Running != nil:
		t.pendingInit++
	case end.ExitCode != 0:
		t.failedInit++
		if !api.ShouldRestart(spec, c, end.ExitCode) {
			t.lostInit++
		}
	case s.State.Waiting != nil:
		t.pendingInit++
	}
}

// addSidecar: one that has stopped does not count; it runs as long as the
// regular containers need it.
func (t *tally) addSidecar(s *corev1.ContainerStatus) {
	switch {
	case s.State.Running != nil:
		t.running++
	case lastEnd(s) == nil:
		t.pendingSidecar++
	}
}

func (t *tally) addRegular(s *corev1.ContainerStatus, spec *corev1.PodSpec, c *corev1.Container) {
	end := lastEnd(s)
	switch {
	case s.State.Running != nil:
		t.running++
	case end == nil:
		t.waiting++
	default:
		t.stopped++
		if s.State.Waiting != nil || api.ShouldRestart(spec, c, end.ExitCode) {
			t.toRestart++
		}
		if s.State.Terminated != nil && end.ExitCode == 0 {
			t.succeeded++
		}
	}
}

// lastEnd is how the container ended last, or nil if it never did.
func lastEnd(s *corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	if s.State.Terminated != nil {
		return s.State.Terminated
	}
	return s.LastTerminationState.Terminated
}

// anyRunning tells whether a container of any kind runs.
func anyRunning(status *corev1.PodStatus) bool {
	for _, list := range [][]corev1.ContainerStatus{status.InitContainerStatuses, status.ContainerStatuses, status.EphemeralContainerStatuses} {
		for i := range list {
			if list[i].State.Running != nil {
				return true
			}
		}
	}
	return false
}

// holdPhase keeps a phase from ever leaving Succeeded or Failed, and from
// becoming that while a container runs.
func holdPhase(previous, next *corev1.PodStatus) {
	switch {
	case api.IsTerminalPhase(previous.Phase):
		next.Phase = previous.Phase
	case api.IsTerminalPhase(next.Phase) && anyRunning(next):
		next.Phase = previous.Phase
		if next.Phase == "" {
			next.Phase = corev1.PodPending
		}
	}
}
