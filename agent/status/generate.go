// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/api"
)

// Input is all that a pod's status is made of.
type Input struct {
	Pod *corev1.Pod
	// Runtime is the newest reading of the pod; nil counts as nothing there.
	Runtime *podtypes.PodStatus
	// Reasons says, by container name, why a container does not run. Nil means
	// that nobody asked the runtime to start one since Previous: then the reasons
	// in Previous still hold for the containers that did not change.
	Reasons map[string]podtypes.WaitingReason
	// Probes, unless nil, says what the probes of the containers have found.
	Probes Probes
	// Resizing is how far a resize of the pod is.
	Resizing podtypes.Resizing
	// Previous is the newest status before this one: the agent's own or, at the
	// first sync after a start of the agent, the server's. It carries what the
	// runtime has forgotten.
	Previous *corev1.PodStatus
	// Ended tells that nothing of the pod will be started again: containers that
	// do not run are shown terminated, and the phase becomes terminal once
	// nothing runs. It follows from a terminal phase in Previous.
	Ended bool
	// Mutate changes the status before its conditions are set, such as to the
	// phase and reason of an eviction; nil changes nothing. A terminal phase that
	// it sets is held back while a container runs.
	Mutate func(*corev1.PodStatus)
	// Now becomes the time of what changed.
	Now time.Time
	// HostIPs are the node's addresses, primary first.
	HostIPs []string
	// RuntimeName is the scheme of container IDs, such as containerd.
	RuntimeName string
}

// Generate makes the whole status of a pod. It is pure: what it returns shares
// no memory with its input and can be changed.
//
// A pod-level reason in Previous stays. It says why the node ends the pod, such
// as DeadlineExceeded, and so makes the phase Failed once nothing runs.
func Generate(in Input) corev1.PodStatus {
	if in.Previous == nil {
		in.Previous = &corev1.PodStatus{}
	}
	in.Ended = in.Ended || api.IsTerminalPhase(in.Previous.Phase)
	status := corev1.PodStatus{
		ObservedGeneration: in.Pod.Generation,
		QOSClass:           api.QoSClass(in.Pod),
		StartTime:          in.startTime(),
		Reason:             in.Previous.Reason,
		Message:            in.Previous.Message,
	}
	in.setContainers(&status, in.Previous)
	limitMessages(in.Pod, &status)
	in.setAddresses(&status)
	in.setResources(&status)
	status.Phase = in.phase(&status)
	if in.Mutate != nil {
		in.Mutate(&status)
	}
	holdPhase(in.Previous, &status)
	in.setConditions(&status)
	settle(in.Previous, &status, stamp(in.Now))
	return status
}

// setContainers shows the containers of all kinds.
func (in *Input) setContainers(status, previous *corev1.PodStatus) {
	spec := &in.Pod.Spec
	status.InitContainerStatuses = in.containerStatuses(initial, spec.InitContainers, previous.InitContainerStatuses)
	status.ContainerStatuses = in.containerStatuses(regular, spec.Containers, previous.ContainerStatuses)
	status.EphemeralContainerStatuses = in.containerStatuses(ephemeral, api.EphemeralContainers(spec), previous.EphemeralContainerStatuses)
}

// phase adds to the kubelet's rules that a pod which the node ended for a reason
// of its own has failed, however well its containers took that: also for an agent
// that finds them ended on its return.
func (in *Input) phase(status *corev1.PodStatus) corev1.PodPhase {
	phase := getPhase(in.Pod, status, in.Ended)
	if api.IsTerminalPhase(phase) && status.Reason != "" {
		return corev1.PodFailed
	}
	return phase
}

func (in *Input) startTime() *metav1.Time {
	if in.Previous.StartTime != nil {
		return in.Previous.StartTime.DeepCopy()
	}
	now := stamp(in.Now)
	return &now
}

// stamp cuts a time to the seconds that a status carries on the wire, so that a
// status that went to the server and came back equals itself.
func stamp(t time.Time) metav1.Time {
	if t.IsZero() {
		return metav1.Time{}
	}
	return metav1.NewTime(t.Truncate(time.Second).Local())
}
