// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package syncloop

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/berth-run/berth/agent/podtypes"
)

// Sources tells how much the config sources have said.
type Sources interface {
	// AllReady tells that every source has said all that it has, and the loop has
	// taken it: a pod that none named is wanted by none.
	AllReady() bool
}

// PodManager holds the pods that the node should have.
type PodManager interface {
	SetPod(pod *corev1.Pod)
	RemovePod(pod *corev1.Pod)
	Pods() []*corev1.Pod
	PodByUID(uid types.UID) (*corev1.Pod, bool)
	Mirror(pod *corev1.Pod) *corev1.Pod
}

// PodWorkers make the pods true. None of the methods waits for that.
type PodWorkers interface {
	DispatchPod(kind podtypes.SyncType, pod, mirror *corev1.Pod)
	// KillOrphan ends what only the runtime knows; a UID with a worker is none.
	KillOrphan(running *podtypes.RuntimePod)
	// Resync asks for another step of a pod that has a worker.
	Resync(uid types.UID)
	// Due delivers when GetWork has pods to resync.
	Due() <-chan struct{}
	GetWork() []types.UID
	// SyncKnownPods forgets what is over and returns what is left.
	SyncKnownPods(desired []*corev1.Pod) sets.Set[types.UID]
	CouldHaveRunningContainers(uid types.UID) bool
}

// Admitter decides whether a node that has admitted some pods can take one more.
type Admitter interface {
	Admit(pod *corev1.Pod, admitted []*corev1.Pod) *podtypes.RejectError
	// Resize decides whether an admitted pod can have other resources.
	Resize(pod *corev1.Pod, admitted []*corev1.Pod) *podtypes.RejectError
}

// Resizes holds how far the resizes are that are not done.
type Resizes interface {
	Of(uid types.UID) podtypes.Resizing
	SetPending(uid types.UID, why *podtypes.RejectError) (news bool)
	SetError(uid types.UID, message string)
	Retain(keep func(types.UID) bool)
}

// RuntimeCache is what is known of the runtime without a call: the PLEG.
type RuntimeCache interface {
	Pods() []*podtypes.RuntimePod
	GetNewerThan(ctx context.Context, uid types.UID, min time.Time) (*podtypes.PodStatus, error)
}

// RuntimeState tells whether pods can be synced at all.
type RuntimeState interface {
	// Err returns what is wrong with the runtime: it does not answer, or has not
	// been listed since the agent's start.
	Err() error
}

// Statuses keeps what the node says of its pods.
type Statuses interface {
	// Reconcile compares what a source holds of the pod's status with what the node said.
	Reconcile(pod *corev1.Pod)
	// Probed reports the pod again by what its probes say now.
	Probed(pod *corev1.Pod)
}

// ContainerCleaner removes the dead containers of a pod that nobody needs.
type ContainerCleaner interface {
	CleanUpContainers(ctx context.Context, pod *corev1.Pod, status *podtypes.PodStatus) error
}

// Cleaner removes what pods left on the node: directories, cgroups, statuses,
// back-off entries. Clean is called on the loop, so that no pod comes meanwhile,
// when the pods to keep have changed; after an error it is called again.
type Cleaner struct {
	Name  string
	Clean func(ctx context.Context, keep sets.Set[types.UID]) error
}
