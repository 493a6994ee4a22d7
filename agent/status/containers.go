// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/api"
)

// Waiting reasons of a container that nobody has a better reason for.
const (
	PodInitializing   = "PodInitializing"
	ContainerCreating = "ContainerCreating"
)

// kind of a container.
type kind int

const (
	regular kind = iota
	initial
	ephemeral
)

// containerStatuses shows each container of a list, in its order.
func (in *Input) containerStatuses(of kind, list []corev1.Container, previous []corev1.ContainerStatus) []corev1.ContainerStatus {
	var out []corev1.ContainerStatus
	for i := range list {
		c := container{Input: in, spec: &list[i], kind: of}
		if p := statusOf(previous, list[i].Name); p != nil {
			c.previous = *p
		}
		out = append(out, c.status())
	}
	return out
}

func statusOf(list []corev1.ContainerStatus, name string) *corev1.ContainerStatus {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}

// container is one container whose status is being made.
type container struct {
	*Input
	spec *corev1.Container
	kind kind
	// previous is empty for a container that was never reported.
	previous corev1.ContainerStatus
}

func (c *container) status() corev1.ContainerStatus {
	var s corev1.ContainerStatus
	if latest := c.Runtime.Latest(c.spec.Name); latest != nil {
		s = c.fromRuntime(latest)
	} else {
		s = c.fromHistory()
	}
	s.Name = c.spec.Name
	if s.Image == "" {
		s.Image = c.spec.Image
	}
	c.setProbed(&s)
	c.setResources(&s)
	return s
}

// setProbed: an init container is ready when it has done its work, a sidecar or regular
// one while it runs and its probes are content. Nobody waits for an ephemeral one.
func (c *container) setProbed(s *corev1.ContainerStatus) {
	if c.kind == ephemeral {
		return
	}
	started, ready := c.probed(s)
	if c.kind == initial && !api.IsSidecar(c.spec) {
		ready = s.State.Terminated != nil && s.State.Terminated.ExitCode == 0
	}
	s.Started, s.Ready = &started, ready
}

// fromRuntime shows the newest instance of a container, and the one before it as
// its last state.
func (c *container) fromRuntime(latest *podtypes.ContainerStatus) corev1.ContainerStatus {
	s := corev1.ContainerStatus{
		Image:                latest.Image,
		ImageID:              latest.ImageID,
		ContainerID:          c.id(latest.ID),
		RestartCount:         max(latest.RestartCount, c.previous.RestartCount),
		StopSignal:           stopSignal(latest),
		VolumeMounts:         c.volumeMounts(latest),
		State:                c.stateOf(latest),
		LastTerminationState: c.stateBefore(latest),
	}
	waiting, known := c.waitingReason(s.ContainerID)
	switch {
	case c.Ended || s.State.Running != nil || !known && s.State.Waiting == nil:
	case s.State.Terminated != nil && c.restarts(s.State.Terminated.ExitCode):
		s.LastTerminationState = s.State
		s.State = corev1.ContainerState{Waiting: waiting}
	case s.State.Waiting != nil:
		s.State.Waiting = waiting
	}
	return s
}

// fromHistory shows a container of which the runtime has no instance.
func (c *container) fromHistory() corev1.ContainerStatus {
	s := *c.previous.DeepCopy()
	end := c.knownEnd()
	switch {
	case c.Ended && end == nil:
		s.State = corev1.ContainerState{Terminated: neverStarted()}
	case end != nil && (c.Ended || !c.restarts(end.ExitCode)):
		s.State = corev1.ContainerState{Terminated: end}
	default:
		if end != nil {
			s.LastTerminationState = corev1.ContainerState{Terminated: end}
			s.RestartCount++
		}
		waiting, _ := c.waitingReason(s.ContainerID)
		s.State = corev1.ContainerState{Waiting: waiting}
		s.ContainerID, s.ImageID = "", ""
	}
	return s
}

// knownEnd is how the instance ended that was reported last, or nil if there was
// none. One that was running has vanished since.
func (c *container) knownEnd() *corev1.ContainerStateTerminated {
	switch state := c.previous.State; {
	case state.Terminated != nil:
		return state.Terminated.DeepCopy()
	case state.Running != nil:
		return vanished(&c.previous)
	}
	return nil
}

// waitingReason is why the container with this ID waits, and whether that is
// more than the default.
func (c *container) waitingReason(id string) (*corev1.ContainerStateWaiting, bool) {
	if r, ok := c.Reasons[c.spec.Name]; ok {
		return &corev1.ContainerStateWaiting{Reason: text(r.Reason), Message: text(r.Message)}, true
	}
	before := c.previous.State.Waiting
	if c.Reasons == nil && before != nil && c.previous.ContainerID == id {
		return before.DeepCopy(), true
	}
	return &corev1.ContainerStateWaiting{Reason: notStarted(c.Pod)}, false
}

// restarts tells whether a container that ended with this code is to run again.
func (c *container) restarts(exitCode int32) bool {
	return api.ShouldRestart(&c.Pod.Spec, c.spec, exitCode)
}
