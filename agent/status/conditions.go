// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/api"
)

// Reasons of conditions, as the kubelet words them.
const (
	PodCompleted               = "PodCompleted"
	PodFailed                  = "PodFailed"
	ContainersNotReady         = "ContainersNotReady"
	ContainersNotInitialized   = "ContainersNotInitialized"
	incompleteContainersFormat = "containers with incomplete status: [%s]"
	unreadyContainersFormat    = "containers with unready status: [%s]"
)

// setConditions adds the agent's conditions to those that a mutation set.
func (in *Input) setConditions(status *corev1.PodStatus) {
	status.Conditions = append(status.Conditions,
		in.generated(corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}),
		in.generated(in.readyToStartContainers()))
	status.Conditions = append(status.Conditions, in.readiness(status)...)
	status.Conditions = append(status.Conditions, in.volumeUpdates()...)
	for _, c := range in.resizeConditions() {
		status.Conditions = append(status.Conditions, in.generated(c))
	}
}

// readiness are the conditions that follow from those of the containers.
func (in *Input) readiness(status *corev1.PodStatus) []corev1.PodCondition {
	containers := in.containersReady(status)
	return []corev1.PodCondition{in.generated(in.initialized(status)), in.generated(containers), in.generated(in.ready(containers))}
}

// generated says of which generation of the pod a condition is.
func (in *Input) generated(c corev1.PodCondition) corev1.PodCondition {
	c.ObservedGeneration = in.Pod.Generation
	return c
}

// readyToStartContainers: the current sandbox stands, with its network.
func (in *Input) readyToStartContainers() corev1.PodCondition {
	sandbox := in.Runtime.Current()
	ready := sandbox != nil && sandbox.Ready && (in.Pod.Spec.HostNetwork || len(sandbox.IPs) > 0)
	return condition(corev1.PodReadyToStartContainers, ready, "", "")
}

// initialized: every init container has done its work and every sidecar has started,
// of which a regular container that runs is the proof.
func (in *Input) initialized(status *corev1.PodStatus) corev1.PodCondition {
	if status.Phase == corev1.PodSucceeded {
		return condition(corev1.PodInitialized, true, PodCompleted, "")
	}
	missing := uninitialized(in.Pod, status)
	if len(missing) == 0 || anyRunning(&corev1.PodStatus{ContainerStatuses: status.ContainerStatuses}) {
		return condition(corev1.PodInitialized, true, "", "")
	}
	return condition(corev1.PodInitialized, false, ContainersNotInitialized, fmt.Sprintf(incompleteContainersFormat, strings.Join(missing, " ")))
}

func (in *Input) containersReady(status *corev1.PodStatus) corev1.PodCondition {
	missing := append(notReadySidecars(in.Pod, status), notReady(status.ContainerStatuses)...)
	switch {
	case status.Phase == corev1.PodSucceeded:
		return condition(corev1.ContainersReady, false, PodCompleted, "")
	case status.Phase == corev1.PodFailed:
		return condition(corev1.ContainersReady, false, PodFailed, "")
	case len(missing) > 0:
		return condition(corev1.ContainersReady, false, ContainersNotReady, fmt.Sprintf(unreadyContainersFormat, strings.Join(missing, " ")))
	}
	return condition(corev1.ContainersReady, true, "", "")
}

func uninitialized(pod *corev1.Pod, status *corev1.PodStatus) []string {
	var names []string
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		s := statusOf(status.InitContainerStatuses, c.Name)
		done := s != nil && (s.Ready || api.IsSidecar(c) && s.Started != nil && *s.Started)
		if !done {
			names = append(names, c.Name)
		}
	}
	return names
}

func notReady(list []corev1.ContainerStatus) []string {
	var names []string
	for i := range list {
		if !list[i].Ready {
			names = append(names, list[i].Name)
		}
	}
	return names
}

func notReadySidecars(pod *corev1.Pod, status *corev1.PodStatus) []string {
	var names []string
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		s := statusOf(status.InitContainerStatuses, c.Name)
		if api.IsSidecar(c) && (s == nil || !s.Ready) {
			names = append(names, c.Name)
		}
	}
	return names
}

func condition(t corev1.PodConditionType, holds bool, reason, message string) corev1.PodCondition {
	c := corev1.PodCondition{Type: t, Status: corev1.ConditionFalse, Reason: reason, Message: message}
	if holds {
		c.Status = corev1.ConditionTrue
	}
	return c
}
