// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/podtypes"
)

// Reporter generates the status of a pod at each point of its life and makes it
// the newest one of the Manager.
type Reporter struct {
	*Manager
	// HostIPs returns the node's addresses, primary first.
	HostIPs func() []string
	// RuntimeName is the scheme of container IDs, such as containerd.
	RuntimeName string
	// Probes, unless nil, says what the probes of containers have found.
	Probes Probes
	// Resizing, unless nil, returns how far a resize of the pod is.
	Resizing func(types.UID) podtypes.Resizing
	// Started, unless nil, is told of each pod that begins to run, and how long
	// after the node took it on.
	Started func(after time.Duration)

	// mu lets no report be made from what another is about to replace.
	mu sync.Mutex
}

// Syncing reports a pod that the node keeps up, and returns what it reported.
// Reasons are those of the runtime's last sync; nil if there was none since the
// last report.
func (r *Reporter) Syncing(pod *corev1.Pod, runtime *podtypes.PodStatus, reasons map[string]podtypes.WaitingReason) corev1.PodStatus {
	return r.report(Input{Pod: pod, Runtime: runtime, Reasons: reasons})
}

// Rejected reports that the node does not run the pod.
func (r *Reporter) Rejected(pod *corev1.Pod, runtime *podtypes.PodStatus, why *podtypes.RejectError) {
	r.report(Input{Pod: pod, Runtime: runtime, Ended: true, Mutate: func(status *corev1.PodStatus) {
		status.Phase, status.Reason, status.Message = corev1.PodFailed, why.Reason, text(why.Message)
	}})
}

// Terminating reports a pod whose containers are being stopped. What mutate, if
// not nil, says of its end is shown, but no terminal phase while one runs.
func (r *Reporter) Terminating(pod *corev1.Pod, runtime *podtypes.PodStatus, mutate func(*corev1.PodStatus)) {
	r.report(Input{Pod: pod, Runtime: runtime, Mutate: holdingPhase(mutate)})
}

// Stopped reports a pod of which nothing runs any more, as runtime, read after
// that, shows.
func (r *Reporter) Stopped(pod *corev1.Pod, runtime *podtypes.PodStatus, mutate func(*corev1.PodStatus)) {
	r.report(Input{Pod: pod, Runtime: runtime, Ended: true, Mutate: mutate})
}

// holdingPhase drops the phase that mutate sets: what the reading shows stopped
// may have been started since.
func holdingPhase(mutate func(*corev1.PodStatus)) func(*corev1.PodStatus) {
	if mutate == nil {
		return nil
	}
	return func(status *corev1.PodStatus) {
		phase := status.Phase
		mutate(status)
		status.Phase = phase
	}
}

// Probed reports a pod again by what its probes say now. It may be called at any time
// of the pod's life, beside the other methods, and does nothing before the first.
func (r *Reporter) Probed(pod *corev1.Pod) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if previous, ok := r.PodStatus(pod.UID); ok {
		in := Input{Pod: pod, Previous: &previous, Probes: r.Probes, Now: time.Now()}
		r.SetPodStatus(pod, in.probedAnew())
	}
}

// Reconcile compares with what the server holds; see Manager.Reconcile. The conditions
// that others have set there may open or close the pod's gates.
func (r *Reporter) Reconcile(pod *corev1.Pod) {
	r.Manager.Reconcile(pod)
	if len(pod.Spec.ReadinessGates) > 0 {
		r.Probed(pod)
	}
}

func (r *Reporter) report(in Input) corev1.PodStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	in.Probes = r.Probes
	if r.Resizing != nil {
		in.Resizing = r.Resizing(in.Pod.UID)
	}
	in.Previous = r.previous(in.Pod)
	in.Now = time.Now()
	in.HostIPs = r.HostIPs()
	in.RuntimeName = r.RuntimeName
	status := Generate(in)
	r.SetPodStatus(in.Pod, status)
	if after, ok := startedAfter(in.Previous, &status, in.Now); ok && r.Started != nil {
		r.Started(after)
	}
	return status
}

// startedAfter tells whether the pod begins to run by this status, and how long
// after it was taken on.
func startedAfter(before, status *corev1.PodStatus, now time.Time) (time.Duration, bool) {
	begins := before.Phase != corev1.PodRunning && status.Phase == corev1.PodRunning && status.StartTime != nil
	if !begins {
		return 0, false
	}
	return max(0, now.Sub(status.StartTime.Time)), true
}

// previous is the server's status as long as the node has none of its own.
func (r *Reporter) previous(pod *corev1.Pod) *corev1.PodStatus {
	if status, ok := r.PodStatus(pod.UID); ok {
		return &status
	}
	return &pod.Status
}
