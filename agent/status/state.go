// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
)

// What is shown of a container whose end nobody saw.
const (
	ContainerStatusUnknown   = "ContainerStatusUnknown"
	unknownExitCode          = 137
	vanishedMessage          = "The container was gone before its end was seen"
	neverStartedMessage      = "The container was not started before the pod ended"
	reasonCompleted          = "Completed"
	reasonError              = "Error"
	containerIDSchemeDivider = "://"
)

// stateOf shows one instance by itself. One that was created and not started
// waits, or has ended with the pod.
func (c *container) stateOf(s *podtypes.ContainerStatus) corev1.ContainerState {
	switch s.State {
	case podtypes.ContainerRunning:
		return corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: stamp(s.StartedAt)}}
	case podtypes.ContainerExited:
		return corev1.ContainerState{Terminated: c.exited(s)}
	case podtypes.ContainerCreated:
		if c.Ended {
			return corev1.ContainerState{Terminated: neverStarted()}
		}
		return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}
	}
	t := c.exited(s)
	t.ExitCode, t.Reason, t.Message = unknownExitCode, ContainerStatusUnknown, vanishedMessage
	return corev1.ContainerState{Terminated: t}
}

func (c *container) exited(s *podtypes.ContainerStatus) *corev1.ContainerStateTerminated {
	reason := s.Reason
	switch {
	case reason == "" && s.ExitCode == 0:
		reason = reasonCompleted
	case reason == "":
		reason = reasonError
	}
	return &corev1.ContainerStateTerminated{
		ExitCode:    s.ExitCode,
		Reason:      text(reason),
		Message:     text(s.Message),
		StartedAt:   stamp(s.StartedAt),
		FinishedAt:  stamp(s.FinishedAt),
		ContainerID: c.id(s.ID),
	}
}

// stateBefore is how the instance before the latest ended: as the runtime shows
// it or, when it has been removed there, as it was last reported.
func (c *container) stateBefore(latest *podtypes.ContainerStatus) corev1.ContainerState {
	for i := range c.Runtime.Containers {
		s := &c.Runtime.Containers[i]
		if s.Name == latest.Name && s.ID != latest.ID && s.State == podtypes.ContainerExited {
			return corev1.ContainerState{Terminated: c.exited(s)}
		}
	}
	if c.previous.ContainerID == c.id(latest.ID) || c.previous.ContainerID == "" {
		return c.lastReported(latest)
	}
	if end := c.knownEnd(); end != nil {
		return corev1.ContainerState{Terminated: end}
	}
	return c.lastReported(latest)
}

// lastReported is the last state that was reported, unless it is of the latest
// instance itself: while that waits for its restart its end is shown there.
func (c *container) lastReported(latest *podtypes.ContainerStatus) corev1.ContainerState {
	last := c.previous.LastTerminationState.Terminated
	if last == nil || last.ContainerID == c.id(latest.ID) {
		return corev1.ContainerState{}
	}
	return corev1.ContainerState{Terminated: last.DeepCopy()}
}

// vanished is the end of an instance that ran and that the runtime no longer has.
func vanished(s *corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	return &corev1.ContainerStateTerminated{
		ExitCode:    unknownExitCode,
		Reason:      ContainerStatusUnknown,
		Message:     vanishedMessage,
		StartedAt:   s.State.Running.StartedAt,
		ContainerID: s.ContainerID,
	}
}

func neverStarted() *corev1.ContainerStateTerminated {
	return &corev1.ContainerStateTerminated{
		ExitCode: unknownExitCode,
		Reason:   ContainerStatusUnknown,
		Message:  neverStartedMessage,
	}
}

func stopSignal(s *podtypes.ContainerStatus) *corev1.Signal {
	if s.StopSignal == "" {
		return nil
	}
	signal := s.StopSignal
	return &signal
}

func (c *container) id(id string) string {
	return c.RuntimeName + containerIDSchemeDivider + id
}

// text makes what a runtime said fit for the wire, which takes UTF-8 only.
func text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
