// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
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
	// Start: the containers to start, in this order: one init container, or app
	// containers.
	Start []*corev1.Container
	// Init tells that Start holds an init container.
	Init bool
}

// containerToKill is a container to stop and what users are told of it.
type containerToKill struct {
	ID      string
	Name    string
	Message string
	// Grace is what it gets instead of the pod's grace, unless nil.
	Grace *time.Duration
}

// computePodActions decides, from the pod and what the runtime and its probes said of
// it, what is to be done. It knows no time: whether a container's crash back-off lets it start
// now is asked when it is started.
func computePodActions(pod *corev1.Pod, status *podtypes.PodStatus, probes probeResults) podActions {
	sandbox := usableSandbox(pod, status)
	if sandbox == nil {
		return actionsWithoutSandbox(pod, status)
	}
	return actionsInSandbox(pod, status, sandbox, probes)
}

// usableSandbox returns the sandbox that the pod's containers can run in: the
// newest, if it is ready, is the only one that is, has the network that the pod
// asks for and, unless that is the host's, an address.
func usableSandbox(pod *corev1.Pod, status *podtypes.PodStatus) *podtypes.SandboxStatus {
	current := status.Current()
	if current == nil || !current.Ready || current.HostNetwork != pod.Spec.HostNetwork {
		return nil
	}
	if !pod.Spec.HostNetwork && len(current.IPs) == 0 {
		return nil
	}
	for i := range status.Sandboxes[1:] {
		if status.Sandboxes[i+1].Ready {
			return nil
		}
	}
	return current
}

// actionsWithoutSandbox ends what is left of a sandbox before and makes a new one,
// if there is a container to run in it.
func actionsWithoutSandbox(pod *corev1.Pod, status *podtypes.PodStatus) podActions {
	start := containersToRun(pod, status)
	if len(start) == 0 || initFailed(pod, status) {
		return podActions{KillPod: anyMayRun(status)}
	}
	a := podActions{CreateSandbox: true, Start: start}
	if current := status.Current(); current != nil {
		// One that is not ready may still hold an address and host ports.
		a.KillPod = true
		a.Attempt = current.Attempt + 1
	}
	if len(pod.Spec.InitContainers) > 0 {
		// All of them run again in a new sandbox.
		a.Init, a.Start = true, []*corev1.Container{&pod.Spec.InitContainers[0]}
	}
	return a
}

// actionsInSandbox starts what is missing in the pod's sandbox. Only containers of
// that sandbox count as there.
func actionsInSandbox(pod *corev1.Pod, status *podtypes.PodStatus, sandbox *podtypes.SandboxStatus, probes probeResults) podActions {
	a := podActions{SandboxID: sandbox.ID}
	a.killStrays(status)
	if !initialized(pod, status, sandbox.ID) {
		a.nextInit(pod, status)
		return a
	}
	kept := 0
	for i := range pod.Spec.Containers {
		if a.nextApp(pod, &pod.Spec.Containers[i], status, probes) {
			kept++
		}
	}
	if kept == 0 && len(a.Start) == 0 {
		return podActions{KillPod: true}
	}
	return a
}

// killStrays stops what runs in a sandbox that is not the pod's any more.
func (a *podActions) killStrays(status *podtypes.PodStatus) {
	for i := range status.Containers {
		c := &status.Containers[i]
		if c.SandboxID != a.SandboxID && mayRun(c) {
			a.kill(c, fmt.Sprintf("Container %s is of a former sandbox, it will be stopped", c.Name))
		}
	}
}

// nextInit goes on with the init containers: the last one that was made decides.
func (a *podActions) nextInit(pod *corev1.Pod, status *podtypes.PodStatus) {
	a.Init = true
	inits := pod.Spec.InitContainers
	for i := len(inits) - 1; i >= 0; i-- {
		c := inSandbox(status, inits[i].Name, a.SandboxID)
		switch {
		case c == nil:
			continue
		case c.State == podtypes.ContainerRunning && sameIdentity(c.Hash, &inits[i]):
			return
		case c.State == podtypes.ContainerRunning:
			a.replace(c, &inits[i])
		case succeeded(c):
			// Not the last one, or the pod would be initialized.
			a.Start = append(a.Start, &inits[i+1])
		case shouldRestart(pod.Spec.RestartPolicy, c):
			a.restart(c, &inits[i])
		default:
			// A failed init container under Never ends the pod.
			*a = podActions{KillPod: true}
		}
		return
	}
	a.Start = append(a.Start, &inits[0])
}

// nextApp decides on one app container and tells whether it is there: it stays, or
// its end is to be waited for.
func (a *podActions) nextApp(pod *corev1.Pod, spec *corev1.Container, status *podtypes.PodStatus, probes probeResults) bool {
	c := inSandbox(status, spec.Name, a.SandboxID)
	switch {
	case c == nil:
		if shouldRun(pod.Spec.RestartPolicy, status.Latest(spec.Name)) {
			a.Start = append(a.Start, spec)
		}
	case c.State == podtypes.ContainerRunning && sameIdentity(c.Hash, spec):
		a.stopUnhealthy(pod.Spec.RestartPolicy, spec, c, probes)
		return true
	case c.State == podtypes.ContainerRunning:
		a.replace(c, spec)
	case shouldRestart(pod.Spec.RestartPolicy, c),
		pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure && probes.unhealthy(c.ID):
		a.restart(c, spec)
	}
	return false
}

// replace ends a container whose definition has changed and starts the new one.
func (a *podActions) replace(c *podtypes.ContainerStatus, spec *corev1.Container) {
	a.kill(c, fmt.Sprintf("Container %s has a new definition, it will be replaced", c.Name))
	a.Start = append(a.Start, spec)
}

// restart starts a container that does not run. One of which the runtime cannot
// tell is stopped first, lest it run twice.
func (a *podActions) restart(c *podtypes.ContainerStatus, spec *corev1.Container) {
	if c.State == podtypes.ContainerUnknown {
		a.kill(c, fmt.Sprintf("Container %s is in an unknown state, it will be started anew", c.Name))
	}
	a.Start = append(a.Start, spec)
}

func (a *podActions) kill(c *podtypes.ContainerStatus, message string) {
	a.Kill = append(a.Kill, containerToKill{ID: c.ID, Name: c.Name, Message: message})
}
