// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/objects"
	"github.com/berth-run/berth/agent/podmanager"
	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/agent/podworkers"
	"github.com/berth-run/berth/api"
)

// resyncUsers syncs the pods that name an object that has changed.
func resyncUsers(pods *podmanager.Manager, workers *podworkers.PodWorkers, changed objects.Key) {
	for _, pod := range pods.Pods() {
		if changed.Namespace != "" && pod.Namespace != changed.Namespace {
			continue
		}
		for r := range api.References(pod) {
			if r.Kind.Name == changed.Kind && r.Namespace == changed.Namespace && r.Name == changed.Name {
				workers.Resync(pod.UID)
				break
			}
		}
	}
}

// evict ends a pod for a reason of the node's own.
func evict(workers *podworkers.PodWorkers) func(*corev1.Pod, int64, func(*corev1.PodStatus)) {
	return func(pod *corev1.Pod, graceSeconds int64, status func(*corev1.PodStatus)) {
		workers.UpdatePod(podworkers.UpdatePodOptions{
			Type: podtypes.SyncKill, Pod: pod,
			Kill: podworkers.KillPodOptions{Evict: true, PodStatusFunc: status, GracePeriodSeconds: &graceSeconds},
		})
	}
}
