// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podsync

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/agent/resize"
	"github.com/berth-run/berth/api"
)

// podSync is one sync of one pod.
type podSync struct {
	*Syncer
	pod *corev1.Pod
	// read is the newest reading of the pod.
	read        *podtypes.PodStatus
	pullSecrets []corev1.Secret
	// changes are those of running containers' resources that were due at first.
	changes []resize.Change
	outcome podtypes.SyncOutcome
}

// step is one idea of how a pod comes about.
type step struct {
	name string
	do   func(*podSync, context.Context) error
}

// syncPodSteps is the order in which a pod comes about.
var syncPodSteps = [...]step{
	{"status", (*podSync).reportStatus},
	{"admit", (*podSync).admit},
	{"network", (*podSync).awaitNetwork},
	{"cgroups", (*podSync).ensureCgroup},
	{"directories", (*podSync).makeDirs},
	{"volumes", (*podSync).mountVolumes},
	{"pull secrets", (*podSync).collectPullSecrets},
	{"probes", (*podSync).probeContainers},
	{"runtime", (*podSync).startContainers},
	{"resize", (*podSync).resizeCgroup},
}

// SyncPod starts what is missing of the pod and stops what is too much. The first
// step that fails, or that finds the pod ended for good, is the last. status is
// what was last read of the pod. The mirror pod is of no use yet.
func (s *Syncer) SyncPod(ctx context.Context, kind podtypes.SyncType, pod, _ *corev1.Pod, status *podtypes.PodStatus) (podtypes.SyncOutcome, error) {
	s.Logger.Debug("sync pod", "pod", api.FullName(pod), "uid", pod.UID, "kind", kind)
	p := &podSync{Syncer: s, pod: pod, read: status}
	for _, step := range syncPodSteps {
		if err := step.do(p, ctx); err != nil {
			return p.outcome, fmt.Errorf("pod %s: %s: %w", api.FullName(pod), step.name, err)
		}
		if p.outcome.Terminal {
			break
		}
	}
	return p.outcome, nil
}
