// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/api"
)

// killedCode is the exit code of a container that was killed.
const killedCode = 137

// made returns the newest container of that name in the sandbox, or nil.
func (d *decision) made(name string) *podtypes.ContainerStatus {
	for i := range d.status.Containers {
		if c := &d.status.Containers[i]; c.Name == name && c.SandboxID == d.SandboxID {
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

// shouldRestart tells whether a container that does not run is to be started again.
// One that was only created has not run, and of an unknown one nobody knows: both are
// started under every policy. One that was stopped for its probe has failed, however
// well it took that.
func (d *decision) shouldRestart(spec *corev1.Container, c *podtypes.ContainerStatus) bool {
	if c.State != podtypes.ContainerExited {
		return true
	}
	code := c.ExitCode
	if code == 0 && d.probes.unhealthy(c.ID) {
		code = killedCode
	}
	return api.ShouldRestart(&d.pod.Spec, spec, code)
}

// shouldRun tells whether a regular container is to run in a sandbox that does not
// have it yet. If one still runs in a former sandbox, it is about to be stopped and
// will not have succeeded.
func (d *decision) shouldRun(spec *corev1.Container) bool {
	switch latest := d.status.Latest(spec.Name); {
	case latest == nil:
		return true
	case latest.State == podtypes.ContainerRunning:
		return api.ShouldRestart(&d.pod.Spec, spec, killedCode)
	default:
		return d.shouldRestart(spec, latest)
	}
}
