// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podworkers

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/api"
)

// A pod with activeDeadlineSeconds may be active for so long from its
// status.startTime, whichever run of the agent began it. The work queue holds the
// deadline, so that the pod gets an update at that moment; any update after it
// evicts the pod with the status of deadlineExceeded. The syncer knows nothing
// of it.

// deadlineReason is the reason of status and event, as Kubernetes words it.
const deadlineReason = "DeadlineExceeded"

// deadlineMessage says so to users.
const deadlineMessage = "Pod was active on the node longer than the specified deadline"

// activeFor returns how much longer the pod may be active, not above 0 if no
// more, and whether it has a deadline at all. A pod that was not started yet
// counts from now.
func activeFor(pod *corev1.Pod, start, now time.Time) (time.Duration, bool) {
	if pod.Spec.ActiveDeadlineSeconds == nil {
		return 0, false
	}
	whole := time.Duration(*pod.Spec.ActiveDeadlineSeconds) * time.Second
	if start.IsZero() {
		return whole, true
	}
	return whole - now.Sub(start), true
}

// deadlineExceeded is the status of a pod that the node ended at its deadline. One
// that has ended by itself before is as it was.
func deadlineExceeded(status *corev1.PodStatus) {
	if api.IsTerminalPhase(status.Phase) {
		return
	}
	status.Phase = corev1.PodFailed
	status.Reason = deadlineReason
	status.Message = deadlineMessage
}
