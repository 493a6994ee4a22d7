// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/berth-run/berth/agent/podtypes"
)

func TestB093PodIPIsThatOfTheCurrentSandbox(t *testing.T) {
	dead := sandbox("s0", "10.0.0.2")
	dead.Ready = false
	hostNetwork := newPod(always, "a")
	hostNetwork.Spec.HostNetwork = true
	plain := newPod(always, "a")
	had := corev1.PodStatus{PodIP: "10.0.0.2", PodIPs: []corev1.PodIP{{IP: "10.0.0.2"}}}

	for _, tc := range []struct {
		name      string
		pod       *corev1.Pod
		sandboxes []podtypes.SandboxStatus
		ended     bool
		want      string
	}{
		{"no sandbox", plain, nil, false, ""},
		{"sandbox without address yet", plain, []podtypes.SandboxStatus{sandbox("s1", "")}, false, ""},
		{"sandbox", plain, []podtypes.SandboxStatus{sandbox("s1", "10.0.0.9")}, false, "10.0.0.9"},
		{"dead sandbox", plain, []podtypes.SandboxStatus{dead}, false, ""},
		{"new sandbox after a dead one", plain, []podtypes.SandboxStatus{sandbox("s1", "10.0.0.9"), dead}, false, "10.0.0.9"},
		{"dead sandbox after a ready one", plain, []podtypes.SandboxStatus{dead, sandbox("s1", "10.0.0.9")}, false, ""},
		{"dead sandbox of an ended pod", plain, []podtypes.SandboxStatus{dead}, true, "10.0.0.2"},
		{"ended pod without sandbox", plain, nil, true, "10.0.0.2"},
		{"host network", hostNetwork, []podtypes.SandboxStatus{sandbox("s1", "")}, false, "192.0.2.1"},
		{"host network, no sandbox", hostNetwork, nil, false, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for i := range tc.sandboxes {
				if tc.sandboxes[i].IPs[0] == "" {
					tc.sandboxes[i].IPs = nil
				}
			}
			in := input(tc.pod, &podtypes.PodStatus{Sandboxes: tc.sandboxes})
			in.Previous, in.Ended = &had, tc.ended
			got := Generate(in)
			if got.PodIP != tc.want {
				t.Errorf("pod IP %q, want %q", got.PodIP, tc.want)
			}
			if (got.PodIP == "") != (len(got.PodIPs) == 0) || got.PodIP != "" && got.PodIPs[0].IP != got.PodIP {
				t.Errorf("pod IP %q beside %v", got.PodIP, got.PodIPs)
			}
		})
	}
}

func TestBothAddressesOfADualStackPod(t *testing.T) {
	s := sandbox("s0", "10.0.0.2")
	s.IPs = append(s.IPs, "fd00::2")
	in := input(newPod(always, "a"), &podtypes.PodStatus{Sandboxes: []podtypes.SandboxStatus{s}})
	in.HostIPs = []string{"192.0.2.1", "2001:db8::1"}
	got := Generate(in)
	if diff := cmp.Diff([]corev1.PodIP{{IP: "10.0.0.2"}, {IP: "fd00::2"}}, got.PodIPs); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]corev1.HostIP{{IP: "192.0.2.1"}, {IP: "2001:db8::1"}}, got.HostIPs); diff != "" || got.HostIP != "192.0.2.1" {
		t.Error(got.HostIP, diff)
	}
}

func TestWhatComesFromTheSpec(t *testing.T) {
	pod := newPod(always, "init-a", "b", "a")
	pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	got := generate(pod, runtimeStatus(running("a", 0)))
	if got.QOSClass != corev1.PodQOSBurstable || got.ObservedGeneration != 3 {
		t.Errorf("class %s, generation %d", got.QOSClass, got.ObservedGeneration)
	}
	var names []string
	for _, s := range append(got.InitContainerStatuses, got.ContainerStatuses...) {
		names = append(names, s.Name)
	}
	if diff := cmp.Diff([]string{"init-a", "b", "a"}, names); diff != "" {
		t.Error(diff)
	}
}

// What Generate returns is the caller's; its input stays as it was.
func TestGenerateSharesNothing(t *testing.T) {
	pod := newPod(always, "init-a", "a")
	previous := generate(pod, runtimeStatus(exited("a", 0, 1), exited("init-a", 0, 0)))
	before := previous.DeepCopy()
	got := after(previous, pod, nil)
	got.InitContainerStatuses[0].State.Terminated.Reason = "changed"
	got.ContainerStatuses[0].LastTerminationState.Terminated.Reason = "changed"
	got.StartTime.Time = t0
	got.Conditions[0].Reason = "changed"
	if diff := cmp.Diff(before, &previous); diff != "" {
		t.Error(diff)
	}
}
