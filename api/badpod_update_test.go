// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"slices"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func TestBadUpdates(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*corev1.Pod)
		want   string
	}{
		"one container more": {func(p *corev1.Pod) {
			p.Spec.Containers = append(p.Spec.Containers, *p.Spec.Containers[0].DeepCopy())
			p.Spec.Containers[1].Name, p.Spec.Containers[1].Ports = "more", nil
		}, `spec.containers: Forbidden: pod updates may not add or remove containers`},
		"an init container less": {func(p *corev1.Pod) { p.Spec.InitContainers = nil },
			`spec.initContainers: Forbidden: pod updates may not add or remove containers`},
		"no image":  {func(p *corev1.Pod) { p.Spec.Containers[0].Image = "" }, `spec.containers[0].image: Required value`},
		"more time": {func(p *corev1.Pod) { p.Spec.ActiveDeadlineSeconds = ptr.To(int64(601)) }, `spec.activeDeadlineSeconds: Invalid value: 601: must be less than or equal to previous value`},
		"all time":  {func(p *corev1.Pod) { p.Spec.ActiveDeadlineSeconds = nil }, `spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value`},
		"toleration": {func(p *corev1.Pod) { p.Spec.Tolerations[0].Key = "x" },
			`spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds`},
		"another node": {func(p *corev1.Pod) { p.Spec.NodeName = "node-2" }, `spec.nodeName: Forbidden: ` + podUpdateRule},
		"an ephemeral container": {func(p *corev1.Pod) {
			p.Spec.EphemeralContainers = withDebugger(func(*corev1.EphemeralContainer) {}).Spec.EphemeralContainers
		}, `spec.ephemeralContainers: Forbidden: ` + podUpdateRule},
	} {
		t.Run(name, func(t *testing.T) {
			pod := validPod()
			tt.change(pod)
			if got := texts(ValidateUpdate(Pods, pod, validPod())); !slices.Equal(got, []string{tt.want}) {
				t.Errorf("got\n%q, want\n%q", got, tt.want)
			}
		})
	}
}

func TestBadEphemeralUpdates(t *testing.T) {
	same := func(*corev1.EphemeralContainer) {}
	changed := withDebugger(func(e *corev1.EphemeralContainer) { e.Image = "other:1" })
	for name, tt := range map[string]struct {
		pod  *corev1.Pod
		want string
	}{
		"removed": {validPod(), `spec.ephemeralContainers: Forbidden: existing ephemeral containers "debugger" may not be removed`},
		"changed": {changed, `spec.ephemeralContainers: Forbidden: existing ephemeral containers "debugger" may not be changed`},
	} {
		if got := texts(ValidateEphemeralUpdate(Pods, tt.pod, withDebugger(same))); !slices.Equal(got, []string{tt.want}) {
			t.Errorf("%s: got\n%q, want\n%q", name, got, tt.want)
		}
	}
}

func TestBadTokenRequests(t *testing.T) {
	for seconds, want := range map[int64]string{
		-1:        `spec.expirationSeconds: Invalid value: -1: may not specify a duration less than 10 minutes`,
		599:       `spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes`,
		1<<32 + 1: `spec.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds`,
	} {
		r := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
		if got := texts(ValidateTokenRequest(r)); !slices.Equal(got, []string{want}) {
			t.Errorf("%d: got %q, want %q", seconds, got, want)
		}
	}
}

// TestAbsurdGraces: of more seconds than a duration holds, as many as it does.
func TestAbsurdGraces(t *testing.T) {
	for n, want := range map[int64]time.Duration{
		0: 0, 30: 30 * time.Second, -30: -30 * time.Second, 1 << 62: 9223372036 * time.Second, -1 << 63: -9223372036 * time.Second,
	} {
		if got := Seconds(n); got != want {
			t.Errorf("%d s: got %s, want %s", n, got, want)
		}
		pod := &corev1.Pod{Spec: corev1.PodSpec{TerminationGracePeriodSeconds: &n}}
		if got := GracePeriod(pod); got != want {
			t.Errorf("grace of %d s: got %s, want %s", n, got, want)
		}
	}
}
