// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podworkers

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/podtypes"
)

// UpdatePodOptions says what changed of a pod.
type UpdatePodOptions struct {
	// Type says why; SyncKill asks for the end of the pod.
	Type podtypes.SyncType
	// Pod is the newest that is known of the pod; nil only with a RuntimePod.
	Pod *corev1.Pod
	// Mirror is the pod at the server that stands for a static pod, if any.
	Mirror *corev1.Pod
	// RuntimePod is set instead of Pod, with SyncKill, for a pod that only the
	// runtime knows. It is ignored for a UID that has a worker.
	RuntimePod *podtypes.RuntimePod
	// Kill refines SyncKill.
	Kill KillPodOptions
}

func (o UpdatePodOptions) uid() types.UID {
	if o.Pod != nil {
		return o.Pod.UID
	}
	return o.RuntimePod.UID
}

// KillPodOptions refines the end of a pod.
type KillPodOptions struct {
	// Evict tells that the node ends the pod for a reason of its own, while its
	// source still wants it. Without it the source no longer has the pod.
	Evict bool
	// PodStatusFunc gives the reason in the status that is reported when the pod's
	// containers have stopped. The first one given holds. It may be called more
	// than once, from another goroutine.
	PodStatusFunc func(*corev1.PodStatus)
	// GracePeriodSeconds replaces the grace that the pod itself asks for.
	GracePeriodSeconds *int64
	// Completed, if not nil, is closed when no container of the pod runs any more,
	// or at once if that is so already. It stays open if the workers end before.
	Completed chan<- struct{}
}
