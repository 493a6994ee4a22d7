// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podsync

import (
	"context"
)

// ensureCgroup makes the pod's cgroup, which its sandbox is then put into.
func (p *podSync) ensureCgroup(context.Context) error {
	err := p.Cgroups.EnsurePod(p.pod)
	if err != nil {
		p.warn(p.pod, "FailedToCreatePodContainer", "unable to ensure the pod's cgroup: "+err.Error())
	}
	return err
}
