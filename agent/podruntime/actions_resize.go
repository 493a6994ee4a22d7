// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/agent/resize"
)

// resizeRestarts tells whether a running container asks to be restarted for the
// resources that it is to have.
func (d *decision) resizeRestarts(spec *corev1.Container, c *podtypes.ContainerStatus) bool {
	change, ok := resize.ChangeOf(d.pod, spec, c)
	return ok && change.Restarts()
}

// stopForResize ends a container that asks for that, for the new one to start.
func (d *decision) stopForResize(c *podtypes.ContainerStatus) {
	d.kill(c, fmt.Sprintf("Container %s resize requires restart", c.Name))
}

// resizeInPlace changes the resources of what runs on.
func (d *decision) resizeInPlace() {
	if d.KillPod {
		return
	}
	for _, c := range resize.Changes(d.pod, d.status) {
		stops := slices.ContainsFunc(d.Kill, func(k containerToKill) bool { return k.ID == c.Container.ID })
		if !stops && c.Container.SandboxID == d.SandboxID {
			d.Resize = append(d.Resize, c)
		}
	}
}
