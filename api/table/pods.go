// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/berth-run/berth/api"
)

var pods = layout{
	columns: wide(columns("Name", "Ready", "Status", "Restarts", "Age"), "IP", "Node", "Nominated Node", "Readiness Gates"),
	cells: func(obj api.Object, now time.Time) []any {
		p := obj.(*corev1.Pod)
		ready, total := readiness(p)
		return []any{
			p.Name, fmt.Sprintf("%d/%d", ready, total), PodStatus(p), restarts(p, now), age(p.CreationTimestamp, now),
			orNone(p.Status.PodIP), orNone(p.Spec.NodeName), orNone(p.Status.NominatedNodeName), readinessGates(p),
		}
	},
}

// PodStatus sums up in a word where the pod stands: its phase, or what keeps it,
// such as Init:0/2, CrashLoopBackOff or Terminating.
func PodStatus(p *corev1.Pod) string {
	status := cmp.Or(p.Status.Reason, string(p.Status.Phase))
	if init, waiting := initStatus(p); waiting {
		status = init
	} else {
		status = containersStatus(p, status)
	}
	switch {
	case p.DeletionTimestamp != nil && p.Status.Reason == "NodeLost":
		return "Unknown"
	case p.DeletionTimestamp != nil && !api.IsTerminal(p):
		return "Terminating"
	}
	return status
}

// initStatus is the status of a pod that waits for an init container.
func initStatus(p *corev1.Pod) (status string, waiting bool) {
	for i, c := range p.Status.InitContainerStatuses {
		switch {
		case c.State.Terminated != nil && c.State.Terminated.ExitCode == 0:
			continue
		case isSidecar(p, c.Name) && c.Started != nil && *c.Started:
			continue
		case c.State.Terminated != nil:
			return "Init:" + terminatedReason(c.State.Terminated), true
		case c.State.Waiting != nil && c.State.Waiting.Reason != "" && c.State.Waiting.Reason != "PodInitializing":
			return "Init:" + c.State.Waiting.Reason, true
		}
		return fmt.Sprintf("Init:%d/%d", i, len(p.Spec.InitContainers)), true
	}
	return "", false
}

// containersStatus is what the first container that does not run says, if any
// does not; a pod that says Completed while another container runs is Running.
func containersStatus(p *corev1.Pod, status string) string {
	running := false
	for i := len(p.Status.ContainerStatuses) - 1; i >= 0; i-- {
		c := p.Status.ContainerStatuses[i]
		switch {
		case c.State.Waiting != nil && c.State.Waiting.Reason != "":
			status = c.State.Waiting.Reason
		case c.State.Terminated != nil && p.Status.Reason != "" && c.State.Terminated.Reason == neverSeen:
			// The pod's own reason, such as OutOfcpu, is why.
		case c.State.Terminated != nil:
			status = terminatedReason(c.State.Terminated)
		case c.Ready && c.State.Running != nil:
			running = true
		}
	}
	switch {
	case status == "Completed" && running && api.IsReady(p):
		return "Running"
	case status == "Completed" && running:
		return "NotReady"
	}
	return status
}

// neverSeen is the reason of a container that ended without the runtime knowing how,
// such as one of a pod that its node refused.
const neverSeen = "ContainerStatusUnknown"

func terminatedReason(t *corev1.ContainerStateTerminated) string {
	switch {
	case t.Reason != "":
		return t.Reason
	case t.Signal != 0:
		return fmt.Sprintf("Signal:%d", t.Signal)
	}
	return fmt.Sprintf("ExitCode:%d", t.ExitCode)
}

// readiness counts containers and sidecars.
func readiness(p *corev1.Pod) (ready, total int) {
	total = len(p.Spec.Containers)
	for _, c := range p.Status.ContainerStatuses {
		if c.Ready && c.State.Running != nil {
			ready++
		}
	}
	for i := range p.Spec.InitContainers {
		if api.IsSidecar(&p.Spec.InitContainers[i]) {
			total++
		}
	}
	for _, c := range p.Status.InitContainerStatuses {
		if isSidecar(p, c.Name) && c.Ready && c.State.Running != nil {
			ready++
		}
	}
	return ready, total
}

// readinessGates counts the conditions beside the containers' that a pod waits for.
func readinessGates(p *corev1.Pod) string {
	open := 0
	for _, gate := range p.Spec.ReadinessGates {
		if c := api.PodCondition(&p.Status, gate.ConditionType); c != nil && c.Status == corev1.ConditionTrue {
			open++
		}
	}
	if len(p.Spec.ReadinessGates) == 0 {
		return orNone("")
	}
	return fmt.Sprintf("%d/%d", open, len(p.Spec.ReadinessGates))
}

// restarts counts restarts and says how long ago the last was: those of the init
// containers while the pod waits for one, afterwards those of all others.
func restarts(p *corev1.Pod, now time.Time) string {
	_, initializing := initStatus(p)
	count, last := 0, time.Time{}
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if isInit := isInitContainer(p, c.Name); isInit != initializing && !isSidecar(p, c.Name) {
			continue
		}
		count += int(c.RestartCount)
		if t := c.LastTerminationState.Terminated; t != nil && t.FinishedAt.After(last) {
			last = t.FinishedAt.Time
		}
	}
	if count == 0 || last.IsZero() {
		return fmt.Sprint(count)
	}
	return fmt.Sprintf("%d (%s ago)", count, duration.HumanDuration(now.Sub(last)))
}

func isInitContainer(p *corev1.Pod, name string) bool {
	return slices.ContainsFunc(p.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == name })
}

func isSidecar(p *corev1.Pod, name string) bool {
	return slices.ContainsFunc(p.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == name && api.IsSidecar(&c) })
}
