// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/cri/fake"
	"github.com/berth-run/berth/agent/podtypes"
)

func TestEphemeralContainerJoinsItsTarget(t *testing.T) {
	h := newHarness(t)
	pod := testPod("web")
	h.mustSync(t, pod)
	web := h.status(t, pod).Latest("web").ID
	e := testEphemeral("debugger")
	e.TargetContainerName = "web"
	pod.Spec.EphemeralContainers = []corev1.EphemeralContainer{e}
	h.fake.ForgetCalls()
	h.mustSync(t, pod)
	config := h.fake.Calls("CreateContainer")[0].Request.(*runtimeapi.CreateContainerRequest).GetConfig()
	if o := config.GetLinux().GetSecurityContext().GetNamespaceOptions(); o.GetPid() != runtimeapi.NamespaceMode_TARGET || o.GetTargetId() != web {
		t.Errorf("namespaces %v", o)
	}
	for _, event := range []string{"Created spec.ephemeralContainers{debugger}", "Started spec.ephemeralContainers{debugger}"} {
		if !h.events.has(event) {
			t.Errorf("no event %s in %q", event, h.events.all)
		}
	}
}

func TestEphemeralContainerWithoutItsTargetWaits(t *testing.T) {
	h := newHarness(t)
	pod := testPod("web")
	h.fake.Script("web", fake.Process{StartError: "no such file"})
	e := testEphemeral("debugger")
	e.TargetContainerName = "other"
	pod.Spec.EphemeralContainers = []corev1.EphemeralContainer{e}
	want := podtypes.WaitingReason{Reason: "CreateContainerConfigError", Message: `unable to find target container "other"`}
	if r := h.sync(t, pod); r.Reasons["debugger"] != want {
		t.Errorf("got %+v", r.Reasons["debugger"])
	}
}

// Neither its end nor the loss of its record starts one again.
func TestEphemeralContainerRunsOnce(t *testing.T) {
	h := newHarness(t)
	pod := testPod("web")
	pod.Spec.EphemeralContainers = []corev1.EphemeralContainer{testEphemeral("debugger")}
	h.mustSync(t, pod)
	id := h.status(t, pod).Latest("debugger").ID
	h.fake.Exit(id, fake.Exit{Code: 1})
	h.mustSync(t, pod)
	h.fake.Lose(id)
	h.mustSync(t, pod)
	if n := len(h.fake.ContainerIDs("debugger")); n != 0 || len(h.made()) != 2 {
		t.Errorf("made %q", h.made())
	}
}
