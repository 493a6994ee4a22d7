// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podtypes

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// SyncResult says what one SyncPod of the runtime did.
type SyncResult struct {
	// Reasons holds, by container name, why a container is not running now and
	// what of: the waiting reason and message that users see, such as
	// CrashLoopBackOff or ErrImagePull.
	Reasons map[string]WaitingReason
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
