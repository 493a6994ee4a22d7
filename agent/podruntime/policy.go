// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
)

// inSandbox returns the newest container of that name in that sandbox, or nil.
func inSandbox(status *podtypes.PodStatus, name, sandboxID string) *podtypes.ContainerStatus {
	for i := range status.Containers {
		if c := &status.Containers[i]; c.Name == name && c.SandboxID == sandboxID {
			return c
		}
	}
	return nil
}

func succeeded(c *podtypes.ContainerStatus) bool {
	return c.State == podtypes.ContainerExited && c.ExitCode == 0
}

// mayRun tells whether a process of the container may be alive.
func mayRun(c *podtypes.ContainerStatus) bool {
	return c.State == podtypes.ContainerRunning || c.State == podtypes.ContainerUnknown
}

// anyMayRun tells whether the runtime may be running anything of the pod.
func anyMayRun(status *podtypes.PodStatus) bool {
	if status == nil {
		return false
	}
	for i := range status.Containers {
		if mayRun(&status.Containers[i]) {
			return true
		}
	}
	return status.Running()
}

// shouldRestart tells whether a container that does not run is to be started by
// the pod's policy. One that was only created has not run, and of an unknown one
// nobody knows: both are started under every policy.
func shouldRestart(policy corev1.RestartPolicy, c *podtypes.ContainerStatus) bool {
	if c.State != podtypes.ContainerExited {
		return true
	}
	switch policy {
	case corev1.RestartPolicyNever:
		return false
	case corev1.RestartPolicyOnFailure:
		return c.ExitCode != 0
	}
	return true
}

// shouldRun tells whether a container is to run in a sandbox that does not have it
// yet. latest is what a former sandbox had of it, or nil: if that one still runs,
// it is about to be stopped and will not have succeeded.
func shouldRun(policy corev1.RestartPolicy, latest *podtypes.ContainerStatus) bool {
	switch {
	case latest == nil:
		return true
	case latest.State == podtypes.ContainerRunning:
		return policy != corev1.RestartPolicyNever
	}
	return shouldRestart(policy, latest)
}

// containersToRun lists the app containers that have work left.
func containersToRun(pod *corev1.Pod, status *podtypes.PodStatus) []*corev1.Container {
	var all []*corev1.Container
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		if shouldRun(pod.Spec.RestartPolicy, status.Latest(c.Name)) {
			all = append(all, c)
		}
	}
	return all
}

// initialized tells whether all init containers ran to their end in that sandbox.
// An app container there proves it, also when their records are gone.
func initialized(pod *corev1.Pod, status *podtypes.PodStatus, sandboxID string) bool {
	inits := pod.Spec.InitContainers
	if len(inits) == 0 {
		return true
	}
	for i := range pod.Spec.Containers {
		if inSandbox(status, pod.Spec.Containers[i].Name, sandboxID) != nil {
			return true
		}
	}
	last := inSandbox(status, inits[len(inits)-1].Name, sandboxID)
	return last != nil && succeeded(last)
}

// initFailed tells whether an init container has failed for good, in any sandbox:
// the pod has failed then.
func initFailed(pod *corev1.Pod, status *podtypes.PodStatus) bool {
	for i := range pod.Spec.InitContainers {
		c := status.Latest(pod.Spec.InitContainers[i].Name)
		if c != nil && !succeeded(c) && !shouldRestart(pod.Spec.RestartPolicy, c) {
			return true
		}
	}
	return false
}
