// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podsync

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/podtypes"
)

// StatusManager makes the pod's status out of what was read and reports it.
type StatusManager interface {
	// Syncing reports a pod that is kept up and returns what it reported. Nil
	// reasons leave those of the report before as they are.
	Syncing(pod *corev1.Pod, runtime *podtypes.PodStatus, reasons map[string]podtypes.WaitingReason) corev1.PodStatus
	Rejected(pod *corev1.Pod, runtime *podtypes.PodStatus, why *podtypes.RejectError)
	Terminating(pod *corev1.Pod, runtime *podtypes.PodStatus, mutate func(*corev1.PodStatus))
	Stopped(pod *corev1.Pod, runtime *podtypes.PodStatus, mutate func(*corev1.PodStatus))
	// TerminatePod reports that the pod holds nothing on the node any more.
	TerminatePod(pod *corev1.Pod)
}

// Admission knows which pods the node takes.
type Admission interface {
	// Verdict returns the refusal that the pod met when it came to the node, or
	// nil.
	Verdict(pod *corev1.Pod) *podtypes.RejectError
}

// Resizes notes how far the resizes of pods are.
type Resizes interface {
	// SetError notes what failed of the pod's resize; empty if nothing did.
	SetError(uid types.UID, message string)
}

// Network tells whether sandboxes can get a network.
type Network interface {
	NetworkReady() error
}

// Cgroups are the pods' own cgroups, below those of their QoS classes.
type Cgroups interface {
	EnsurePod(pod *corev1.Pod) error
	DestroyPod(ctx context.Context, uid types.UID) error
}

// Dirs are the pods' own directories.
type Dirs interface {
	EnsurePod(uid types.UID) error
	RemovePod(uid types.UID) error
}

// Volumes prepares the volumes of pods and takes them away.
type Volumes interface {
	// Mount returns where the volumes lie. An error without them says what the pod
	// lacks; with them, what could not be brought up to date.
	Mount(ctx context.Context, pod *corev1.Pod) (map[string]podtypes.Volume, error)
	Unmount(ctx context.Context, uid types.UID) error
}

// Secrets looks up the pods' pull secrets.
type Secrets interface {
	Secret(namespace, name string) (*corev1.Secret, error)
}

// Probes asks containers that run how they are.
type Probes interface {
	// SyncPod has the containers probed that run by this reading, and no others.
	SyncPod(pod *corev1.Pod, reading *podtypes.PodStatus)
	// StopLivenessAndStartup ends the probes for which a container would be stopped.
	StopLivenessAndStartup(uid types.UID)
	RemovePod(uid types.UID)
}

// Runtime runs the containers.
type Runtime interface {
	SyncPod(ctx context.Context, pod *corev1.Pod, status *podtypes.PodStatus, pullSecrets []corev1.Secret) podtypes.SyncResult
	// KillPod stops what status shows. pod is nil for one that only the runtime
	// knows.
	KillPod(ctx context.Context, pod *corev1.Pod, status *podtypes.PodStatus, grace time.Duration) error
	// RemovePod removes the stopped containers and sandboxes of a pod.
	RemovePod(ctx context.Context, uid types.UID) error
}

// Readings are those of the pods in the runtime: the PLEG.
type Readings interface {
	// Hold puts off the readings of a pod until release is called.
	Hold(uid types.UID) (release func())
	// GetNewerThan returns a reading of the pod that began at min or later. A pod
	// that the runtime does not have is empty.
	GetNewerThan(ctx context.Context, uid types.UID, min time.Time) (*podtypes.PodStatus, error)
}
