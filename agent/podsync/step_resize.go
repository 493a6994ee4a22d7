// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podsync

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/resize"
)

// resizeCgroup makes the pod's cgroup as narrow as the pod is, once its containers are:
// until then it had room for what they had before. Then the pod is resized.
func (p *podSync) resizeCgroup(context.Context) error {
	if len(p.changes) == 0 || len(resize.Changes(p.pod, p.read)) > 0 {
		return nil
	}
	if err := p.ensureCgroupOf(p.pod); err != nil {
		return err
	}
	p.Recorder.Record(p.pod, "", corev1.EventTypeNormal, "ResizeCompleted", resize.Message("completed", p.pod, ""))
	return nil
}
