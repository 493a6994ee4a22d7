// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/agent/podtypes"
)

func TestActionsOnProbes(t *testing.T) {
	const (
		always    = corev1.RestartPolicyAlways
		onFailure = corev1.RestartPolicyOnFailure
		never     = corev1.RestartPolicyNever
	)
	var (
		dead    = containerProbes{liveness: podtypes.ProbeFailure, startup: podtypes.ProbeSuccess}
		unborn  = containerProbes{startup: podtypes.ProbeFailure}
		healthy = containerProbes{liveness: podtypes.ProbeSuccess, startup: podtypes.ProbeSuccess}
	)
	type containers = []podtypes.ContainerStatus
	for name, tc := range map[string]struct {
		policy     corev1.RestartPolicy
		probes     probeResults
		containers containers
		want       want
		message    string
		grace      *time.Duration
	}{
		"all is well": {
			policy: always, probes: probeResults{"a-id": healthy, "b-id": {}}, containers: containers{running("a"), running("b")},
		},
		"liveness failed": {
			policy: always, probes: probeResults{"a-id": dead}, containers: containers{running("a"), running("b")},
			want:    want{Kill: []string{"a-id"}, Start: []string{"a"}},
			message: "Container a failed liveness probe, will be restarted", grace: ptr.To(3 * time.Second),
		},
		"startup failed": {
			policy: onFailure, probes: probeResults{"a-id": unborn}, containers: containers{running("a"), running("b")},
			want:    want{Kill: []string{"a-id"}, Start: []string{"a"}},
			message: "Container a failed startup probe, will be restarted", grace: ptr.To(5 * time.Second),
		},
		"the probe has no grace of its own": {
			policy: always, probes: probeResults{"b-id": dead}, containers: containers{running("a"), running("b")},
			want:    want{Kill: []string{"b-id"}, Start: []string{"b"}},
			message: "Container b failed liveness probe, will be restarted",
		},
		"liveness failed under Never": {
			policy: never, probes: probeResults{"a-id": dead}, containers: containers{running("a"), exited(0, "b")},
			want:    want{Kill: []string{"a-id"}},
			message: "Container a failed liveness probe", grace: ptr.To(3 * time.Second),
		},
		"stopped for its probe, it ended well, under OnFailure": {
			policy: onFailure, probes: probeResults{"a-id": dead}, containers: containers{exited(0, "a"), running("b")},
			want: want{Start: []string{"a"}},
		},
		"stopped for its probe under Never": {
			policy: never, probes: probeResults{"a-id": dead}, containers: containers{exited(0, "a"), exited(0, "b")},
			want: want{KillPod: true},
		},
		"the result is of the container before": {
			policy: always, probes: probeResults{"old": dead}, containers: containers{running("a"), running("b")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			pod := probedPod(tc.policy)
			status := &podtypes.PodStatus{Sandboxes: []podtypes.SandboxStatus{ready("s0", 0)}, Containers: tc.containers}
			got := computePodActions(pod, status, tc.probes)
			if diff := cmp.Diff(tc.want, got.summary()); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
			if len(got.Kill) == 1 && (got.Kill[0].Message != tc.message || !cmp.Equal(got.Kill[0].Grace, tc.grace)) {
				t.Errorf("kills with %q, grace %v", got.Kill[0].Message, got.Kill[0].Grace)
			}
		})
	}
}

// probedPod's container a has probes with a grace of their own.
func probedPod(policy corev1.RestartPolicy) *corev1.Pod {
	pod := testPod("a", "b")
	pod.Spec.RestartPolicy = policy
	pod.Spec.Containers[0].LivenessProbe = &corev1.Probe{TerminationGracePeriodSeconds: ptr.To(int64(3))}
	pod.Spec.Containers[0].StartupProbe = &corev1.Probe{TerminationGracePeriodSeconds: ptr.To(int64(5))}
	pod.Spec.Containers[1].LivenessProbe = &corev1.Probe{}
	return pod
}

// failing says that every container's liveness probe has failed.
type failing struct{}

func (failing) Result(_ string, kind podtypes.ProbeKind) podtypes.ProbeResult {
	if kind == podtypes.Liveness {
		return podtypes.ProbeFailure
	}
	return podtypes.ProbeUnknown
}

// A container that is stopped for its probe again and again is held back as one that
// crashes is, also where its policy would not start what ended well.
func TestSyncBacksOffUnhealthyContainers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		pod := probedPod(corev1.RestartPolicyOnFailure)
		pod.Spec.Containers = pod.Spec.Containers[:1]
		h.mustSync(t, pod)
		h.cfg.Probes = failing{}
		var waits []time.Duration
		for range 4 {
			r := h.mustSync(t, pod)
			waits = append(waits, r.RetryAfter)
			if r.RetryAfter > 0 {
				time.Sleep(r.RetryAfter)
				h.mustSync(t, pod)
			}
		}
		s := time.Second
		if want := []time.Duration{0, 10 * s, 20 * s, 40 * s}; !slices.Equal(waits, want) {
			t.Errorf("waits %v, want %v", waits, want)
		}
		for _, c := range h.fake.Calls("StopContainer") {
			if got := c.Request.(*runtimeapi.StopContainerRequest).GetTimeout(); got != 3 {
				t.Errorf("stopped with a grace of %d s, want the probe's 3", got)
			}
		}
	})
}
