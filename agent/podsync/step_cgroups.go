// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podsync

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/resize"
)

// ensureCgroup makes the pod's cgroup, which its sandbox is then put into, wide enough
// for a resize of its containers.
func (p *podSync) ensureCgroup(context.Context) error {
	p.changes = resize.Changes(p.pod, p.read)
	return p.ensureCgroupOf(resize.Widest(p.pod, p.changes))
}

func (p *podSync) ensureCgroupOf(pod *corev1.Pod) error {
	err := p.Cgroups.EnsurePod(pod)
	if err != nil {
		p.warn(p.pod, "FailedToCreatePodContainer", "unable to ensure the pod's cgroup: "+err.Error())
	}
	return err
}
