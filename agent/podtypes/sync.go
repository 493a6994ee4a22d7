// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podtypes

import (
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// SyncResult says what one SyncPod of the runtime did.
type SyncResult struct {
	// Reasons holds, by container name, why a container is not running now and
	// what of: the waiting reason and message that users see, such as
	// CrashLoopBackOff or ErrImagePull.
	Reasons map[string]WaitingReason
	// ResizeError is what failed of the resize of running containers; empty if nothing
	// did.
	ResizeError string
	// Changed tells that the runtime was asked to start or stop something, so
	// that what was read of the pod before is out of date.
	Changed bool
	// RetryAfter asks for another sync after that time; 0 asks for nothing.
	RetryAfter time.Duration
	// Err is nil when nothing failed; it joins the failures of all steps.
	Err error
}

// WaitingReason is shown as a waiting container's state.
type WaitingReason struct {
	Reason  string
	Message string
}

// Volume is a prepared volume of a pod: where it lies on the node.
type Volume struct {
	HostPath string
	// Image is set for a volume that the runtime mounts, and HostPath is empty.
	Image *corev1.ImageVolumeSource
}

// SubPath is the part of a volume that a container's mount shows.
type SubPath struct {
	Volume string
	// Path is below the volume's.
	Path string
	// Container and the number of its mount tell the parts of a volume apart.
	Container string
	Mount     int
}

// RejectError is a node's refusal to run a pod: it becomes phase Failed with this
// reason, or a Pending condition, by the caller's choice.
type RejectError struct {
	Reason  string
	Message string
}

func (e *RejectError) Error() string { return e.Reason + ": " + e.Message }

// StatusReport is the newest status of a pod on its way to the server.
type StatusReport struct {
	Namespace string
	Name      string
	UID       types.UID
	// Version rises with each report of the pod.
	Version uint64
	Status  corev1.PodStatus
	// Terminated: nothing of the pod runs any more and all that it held is
	// released.
	Terminated bool
}

// ErrNotFound is what runtime calls return, wrapped, for an object that the
// runtime does not have.
var ErrNotFound = errors.New("not found in the runtime")

// EventRecorder tells users what happened to a pod. Record never blocks.
type EventRecorder interface {
	// Record notes an event of type corev1.EventTypeNormal or EventTypeWarning.
	// fieldPath names the part of the pod, such as spec.containers{web}, or is
	// empty.
	Record(pod *corev1.Pod, fieldPath, eventType, reason, message string)
}

// SyncType says why a pod is synced.
type SyncType int

// The reasons for a sync.
const (
	// SyncCreate is the first sync of a pod that is new to the node.
	SyncCreate SyncType = iota + 1
	// SyncUpdate follows a change of the pod's spec or metadata.
	SyncUpdate
	// SyncAgain follows an event of the runtime, a timer or a retry.
	SyncAgain
	// SyncKill ends the pod.
	SyncKill
)

func (t SyncType) String() string {
	return [...]string{"none", "create", "update", "sync", "kill"}[t]
}

// SyncOutcome is what one sync of a pod leaves to its worker.
type SyncOutcome struct {
	// Terminal: the pod has ended for good and is to be torn down.
	Terminal bool
	// RetryAfter asks for another sync after that time, such as at the end of a
	// crash back-off; 0 asks for nothing.
	RetryAfter time.Duration
	// ActedAt is when the sync had the runtime do something for the last time: what
	// was read since is as new as it gets. Zero if it did nothing; set also with an
	// error.
	ActedAt time.Time
}
