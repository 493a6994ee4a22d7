// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/agent/resize"
)

// podActions is what one sync has to do to bring a pod nearer to its spec.
type podActions struct {
	// KillPod: stop all containers and sandboxes there are, before anything else.
	KillPod bool
	// CreateSandbox: make a sandbox, with that attempt number.
	CreateSandbox bool
	Attempt       uint32
	// SandboxID is the current sandbox, when it is kept.
	SandboxID string
	// Kill: single containers to stop, before any start.
	Kill []containerToKill
	// Resize: single containers to change the resources of, before any start.
	Resize []resize.Change
	// Start: the containers to start, in this order.
	Start []containerToStart
	// Ephemeral: those to start after all others, which do not wait for them.
	Ephemeral []containerToStart
}

// containerToKill is a container to stop and what users are told of it.
type containerToKill struct {
	ID      string
	Name    string
	Message string
	// Grace is what it gets instead of the pod's grace, unless nil.
	Grace *time.Duration
}

// containerToStart is a container to start.
type containerToStart struct {
	*corev1.Container
	// First: what comes after it waits until it has started.
	First bool
}

// computePodActions decides, from the pod and what the runtime and its probes said of
// it, what is to be done. It knows no time: whether a container's crash back-off lets it
// start now is asked when it is started.
func computePodActions(pod *corev1.Pod, status *podtypes.PodStatus, probes probeResults) podActions {
	d := decision{pod: pod, status: status, probes: probes}
	if sandbox := usableSandbox(pod, status); sandbox != nil {
		d.inSandbox(sandbox)
	} else {
		d.withoutSandbox()
	}
	d.resizeInPlace()
	return d.podActions
}

// decision is what a podActions is made from, and as far as it is made.
type decision struct {
	podActions
	pod    *corev1.Pod
	status *podtypes.PodStatus
	probes probeResults
}

// inSandbox starts what is missing in the pod's sandbox. Only containers of that
// sandbox count as there.
func (d *decision) inSandbox(sandbox *podtypes.SandboxStatus) {
	d.SandboxID = sandbox.ID
	d.killStrays()
	d.nextEphemeral()
	if d.nextInit() {
		d.nextApps()
	}
}

// endPod stops all there is: nothing of the pod is to run any more.
func (d *decision) endPod() { d.podActions = podActions{KillPod: true} }

// replace ends a container whose definition has changed, for the new one to start.
func (d *decision) replace(c *podtypes.ContainerStatus) {
	d.kill(c, fmt.Sprintf("Container %s has a new definition, it will be replaced", c.Name))
}

// clearWay stops a container of which the runtime cannot tell whether it runs, lest it
// run twice when it is started.
func (d *decision) clearWay(c *podtypes.ContainerStatus) {
	if c.State == podtypes.ContainerUnknown {
		d.kill(c, fmt.Sprintf("Container %s is in an unknown state, it will be started anew", c.Name))
	}
}

func (d *decision) kill(c *podtypes.ContainerStatus, message string) {
	d.Kill = append(d.Kill, containerToKill{ID: c.ID, Name: c.Name, Message: message})
}

func (d *decision) start(spec *corev1.Container) {
	d.Start = append(d.Start, containerToStart{Container: spec})
}
