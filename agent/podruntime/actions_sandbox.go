// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
)

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

// withoutSandbox ends what is left of a sandbox before and makes a new one, if there
// is a container to run in it. The init containers all run again in a new sandbox.
func (d *decision) withoutSandbox() {
	apps := d.appsToRun()
	if len(apps) == 0 || d.initFailed() {
		d.KillPod = anyMayRun(d.status)
		return
	}
	d.CreateSandbox = true
	if current := d.status.Current(); current != nil {
		// One that is not ready may still hold an address and host ports.
		d.KillPod = true
		d.Attempt = current.Attempt + 1
	}
	d.nextEphemeral()
	if d.startInits(0) {
		for _, c := range apps {
			d.start(c)
		}
	}
}

// killStrays stops what runs in a sandbox that is not the pod's any more.
func (d *decision) killStrays() {
	for i := range d.status.Containers {
		c := &d.status.Containers[i]
		if c.SandboxID != d.SandboxID && mayRun(c) {
			d.kill(c, fmt.Sprintf("Container %s is of a former sandbox, it will be stopped", c.Name))
		}
	}
}
