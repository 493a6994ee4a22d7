// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/cri/fake"
	"github.com/berth-run/berth/agent/podtypes"
)

// made lists the containers in the order in which they were made.
func (h *harness) made() (names []string) {
	for _, c := range h.fake.Calls("CreateContainer") {
		names = append(names, c.Request.(*runtimeapi.CreateContainerRequest).GetConfig().GetMetadata().GetName())
	}
	return names
}

func TestSidecarsAndAppsStartInOneSync(t *testing.T) {
	h := newHarness(t)
	pod := testPod("web")
	pod.Spec.InitContainers = []corev1.Container{testInit("s"), testInit("t")}
	h.mustSync(t, pod)
	if got := h.made(); !slices.Equal(got, []string{"s", "t", "web"}) {
		t.Errorf("made %q", got)
	}
	if !h.events.has("Started spec.initContainers{s}") {
		t.Errorf("events %q", h.events.all)
	}
}

// What comes after a sidecar counts on its being up.
func TestNothingStartsAfterASidecarThatCannot(t *testing.T) {
	h := newHarness(t)
	pod := testPod("web")
	pod.Spec.InitContainers = []corev1.Container{testInit("s")}
	h.fake.Script("s", fake.Process{StartError: "no such file"}, fake.Process{})
	r := h.sync(t, pod)
	if got := h.made(); !slices.Equal(got, []string{"s"}) || r.Reasons["s"].Reason != "RunContainerError" {
		t.Errorf("made %q, reasons %v", got, r.Reasons)
	}
	h.mustSync(t, pod)
	if got := h.made(); !slices.Equal(got, []string{"s", "s", "web"}) {
		t.Errorf("then made %q", got)
	}
}

// A back-off of a sidecar that had its turn holds nobody up.
func TestACrashingSidecarHoldsNoAppUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		pod := testPod("web")
		pod.Spec.InitContainers = []corev1.Container{testInit("s")}
		h.mustSync(t, pod)
		crash := func(name string) podtypes.SyncResult {
			h.fake.Exit(h.status(t, pod).Latest(name).ID, fake.Exit{Code: 1})
			return h.mustSync(t, pod)
		}
		crash("s")
		if r := crash("s"); r.Reasons["s"].Reason != "CrashLoopBackOff" || r.RetryAfter != 10*time.Second {
			t.Errorf("after the second crash: %+v", r)
		}
		crash("web")
		if got := h.state(t, pod, "web"); got != podtypes.ContainerRunning {
			t.Errorf("web is %q", got)
		}
	})
}

func TestRestartRules(t *testing.T) {
	h := newHarness(t)
	pod := testPod("web", "job")
	pod.Spec.RestartPolicy = corev1.RestartPolicyNever
	never := corev1.ContainerRestartPolicyNever
	pod.Spec.Containers[0].RestartPolicy = &never
	pod.Spec.Containers[0].RestartPolicyRules = []corev1.ContainerRestartRule{{
		Action:    corev1.ContainerRestartRuleActionRestart,
		ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: corev1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{42}},
	}}
	h.mustSync(t, pod)
	for _, tc := range []struct {
		code int32
		want podtypes.ContainerState
	}{{42, podtypes.ContainerRunning}, {1, podtypes.ContainerExited}} {
		h.fake.Exit(h.status(t, pod).Latest("web").ID, fake.Exit{Code: tc.code})
		h.mustSync(t, pod)
		if got := h.state(t, pod, "web"); got != tc.want {
			t.Errorf("after exit code %d web is %q", tc.code, got)
		}
	}
}
