// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podworkers

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/podtypes"
)

// Syncer makes a pod true. The workers call it for each pod in the order of the
// diagram at PodWorkers, never twice at once for one UID. Every method may be
// called again after an error, and must then go on from what it finds. A method
// whose context ends returns soon; what it returns then does not matter.
type Syncer interface {
	// SyncPod starts what is missing of the pod and stops what is too much. It
	// takes no more from a pod than one step can do: it does not wait until
	// containers run. The context ends when the pod is to be terminated, so that
	// a pull under way is given up. After a call that ended so, nothing that it
	// began may start a container later.
	SyncPod(ctx context.Context, kind podtypes.SyncType, pod, mirror *corev1.Pod, status *podtypes.PodStatus) (podtypes.SyncOutcome, error)

	// SyncTerminatingPod stops all containers of the pod, within grace seconds,
	// which is never nil; nil error means that none runs any more. mutate, if not
	// nil, gives the reason for which the node ended the pod, such as an eviction
	// or its deadline: it is applied to the status that is reported once nothing
	// runs, so a phase is never terminal while something still runs. The context
	// ends when the grace became shorter; the next call has what is left of it.
	SyncTerminatingPod(ctx context.Context, pod *corev1.Pod, status *podtypes.PodStatus, grace *int64, mutate func(*corev1.PodStatus)) error

	// SyncTerminatingRuntimePod stops and removes all that the runtime has of a
	// pod that no source knows, its network included. There is no spec to go by.
	SyncTerminatingRuntimePod(ctx context.Context, running *podtypes.RuntimePod) error

	// SyncTerminatedPod releases what the pod held, when no container runs any
	// more: network, volumes, cgroup. Then it reports the pod as terminated. After
	// a nil error a pod of the same name may start. A pod that ended by itself gets
	// another call when its source deletes it. status may be older than the stop of
	// the containers.
	SyncTerminatedPod(ctx context.Context, pod *corev1.Pod, status *podtypes.PodStatus) error
}

// StatusCache tells what the runtime knows of pods: the PLEG.
type StatusCache interface {
	// GetNewerThan returns the pod's status by a reading that began at min or later,
	// and waits for such a one. With a zero min it returns what is known now, an empty status for
	// a pod that the runtime does not have, and waits for nothing but the first
	// listing of the runtime after the agent's start.
	GetNewerThan(ctx context.Context, uid types.UID, min time.Time) (*podtypes.PodStatus, error)
}

// Statuses tells what the node itself last said of its pods: the status manager.
type Statuses interface {
	PodStatus(uid types.UID) (corev1.PodStatus, bool)
}
