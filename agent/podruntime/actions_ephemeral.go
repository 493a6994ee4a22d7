// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
)

// nextEphemeral starts the ephemeral containers that were added and have not run yet,
// in whatever sandbox: each runs once. They wait for no init container, which may be
// what they are to look into.
func (d *decision) nextEphemeral() {
	for i := range d.pod.Spec.EphemeralContainers {
		spec := (*corev1.Container)(&d.pod.Spec.EphemeralContainers[i].EphemeralContainerCommon)
		if c := d.status.Latest(spec.Name); c == nil || c.State == podtypes.ContainerCreated {
			d.Ephemeral = append(d.Ephemeral, containerToStart{Container: spec})
		}
	}
}
