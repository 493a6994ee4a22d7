// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

func TestDefaultProbes(t *testing.T) {
	get := corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(80)}}
	grpc := corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 81}}
	pod := validPod()
	pod.Spec.Containers[0].LivenessProbe = &corev1.Probe{ProbeHandler: get}
	pod.Spec.Containers[0].StartupProbe = &corev1.Probe{ProbeHandler: grpc, PeriodSeconds: 1, TimeoutSeconds: 2, FailureThreshold: 30}
	Default(pod)
	c := pod.Spec.Containers[0]
	want := &corev1.Probe{
		ProbeHandler:   corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Scheme: corev1.URISchemeHTTP, Port: intstr.FromInt32(80)}},
		TimeoutSeconds: 1, PeriodSeconds: 10, SuccessThreshold: 1, FailureThreshold: 3,
	}
	if diff := cmp.Diff(want, c.LivenessProbe); diff != "" {
		t.Errorf("liveness (-want +got):\n%s", diff)
	}
	want = &corev1.Probe{
		ProbeHandler:   corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 81, Service: ptr.To("")}},
		TimeoutSeconds: 2, PeriodSeconds: 1, SuccessThreshold: 1, FailureThreshold: 30,
	}
	if diff := cmp.Diff(want, c.StartupProbe); diff != "" {
		t.Errorf("startup (-want +got):\n%s", diff)
	}
}

func TestValidateProbes(t *testing.T) {
	const liveness, readiness, startup = "spec.containers[0].livenessProbe", "spec.containers[0].readinessProbe", "spec.containers[0].startupProbe"
	for name, tc := range map[string]struct {
		change func(p *corev1.Pod, c *corev1.Container)
		// path of the one error; empty wants none.
		path, words string
	}{
		"all handlers": {func(_ *corev1.Pod, c *corev1.Container) {}, "", ""},
		"no handler":   {func(_ *corev1.Pod, c *corev1.Container) { c.LivenessProbe.Exec = nil }, liveness, "Required value: must specify a handler type"},
		"two handlers": {func(_ *corev1.Pod, c *corev1.Container) { c.LivenessProbe.GRPC = c.StartupProbe.GRPC }, liveness + ".grpc", "Forbidden: may not specify more than 1 handler type"},
		"no command":   {func(_ *corev1.Pod, c *corev1.Container) { c.LivenessProbe.Exec.Command = nil }, liveness + ".exec.command", "Required value"},
		"port number":  {func(_ *corev1.Pod, c *corev1.Container) { c.ReadinessProbe.HTTPGet.Port = intstr.FromInt32(0) }, readiness + ".httpGet.port", "must be between 1 and 65535, inclusive"},
		"port name":    {func(_ *corev1.Pod, c *corev1.Container) { c.ReadinessProbe.HTTPGet.Port = intstr.FromString("a_b") }, readiness + ".httpGet.port", "must contain only alpha-numeric"},
		"scheme":       {func(_ *corev1.Pod, c *corev1.Container) { c.ReadinessProbe.HTTPGet.Scheme = "FTP" }, readiness + ".httpGet.scheme", `Unsupported value: "FTP"`},
		"protocol": {func(_ *corev1.Pod, c *corev1.Container) {
			c.ReadinessProbe.HTTPGet.Protocol = ptr.To(corev1.HTTPProtocol("HTTP3"))
		}, readiness + ".httpGet.protocol", `Unsupported value: "HTTP3"`},
		"HTTP/2 in clear only": {func(_ *corev1.Pod, c *corev1.Container) {
			g := c.ReadinessProbe.HTTPGet
			g.Protocol, g.Scheme = ptr.To(corev1.HTTPProtocolHTTP2), corev1.URISchemeHTTPS
		}, readiness + ".httpGet.protocol", "must be used with scheme HTTP"},
		"header":                 {func(_ *corev1.Pod, c *corev1.Container) { c.ReadinessProbe.HTTPGet.HTTPHeaders[0].Name = "a b" }, readiness + ".httpGet.httpHeaders", "a valid HTTP header"},
		"grpc port":              {func(_ *corev1.Pod, c *corev1.Container) { c.StartupProbe.GRPC.Port = 70000 }, startup + ".grpc.port", "must be between 1 and 65535, inclusive"},
		"delay":                  {func(_ *corev1.Pod, c *corev1.Container) { c.LivenessProbe.InitialDelaySeconds = -1 }, liveness + ".initialDelaySeconds", "must be greater than or equal to 0"},
		"timeout":                {func(_ *corev1.Pod, c *corev1.Container) { c.LivenessProbe.TimeoutSeconds = -1 }, liveness + ".timeoutSeconds", "must be greater than or equal to 0"},
		"period":                 {func(_ *corev1.Pod, c *corev1.Container) { c.LivenessProbe.PeriodSeconds = -1 }, liveness + ".periodSeconds", "must be greater than or equal to 0"},
		"failures":               {func(_ *corev1.Pod, c *corev1.Container) { c.LivenessProbe.FailureThreshold = -1 }, liveness + ".failureThreshold", "must be greater than or equal to 0"},
		"readiness may need two": {func(_ *corev1.Pod, c *corev1.Container) { c.ReadinessProbe.SuccessThreshold = 2 }, "", ""},
		"liveness may not":       {func(_ *corev1.Pod, c *corev1.Container) { c.LivenessProbe.SuccessThreshold = 2 }, liveness + ".successThreshold", "must be 1"},
		"startup may not":        {func(_ *corev1.Pod, c *corev1.Container) { c.StartupProbe.SuccessThreshold = 2 }, startup + ".successThreshold", "must be 1"},
		"grace": {func(_ *corev1.Pod, c *corev1.Container) {
			c.LivenessProbe.TerminationGracePeriodSeconds = ptr.To(int64(0))
		}, liveness + ".terminationGracePeriodSeconds", "must be greater than 0"},
		"grace of readiness": {func(_ *corev1.Pod, c *corev1.Container) {
			c.ReadinessProbe.TerminationGracePeriodSeconds = ptr.To(int64(5))
		}, readiness + ".terminationGracePeriodSeconds", "Invalid value: 5: must not be set for readinessProbes"},
		"of an init container": {func(p *corev1.Pod, c *corev1.Container) { p.Spec.InitContainers[0].StartupProbe = c.StartupProbe },
			"spec.initContainers[0].startupProbe", "may not be set for init containers without restartPolicy=Always"},
		"gate": {func(p *corev1.Pod, _ *corev1.Container) { p.Spec.ReadinessGates[0].ConditionType = "a b" }, "spec.readinessGates[0].conditionType", "name part must consist of"},
	} {
		t.Run(name, func(t *testing.T) {
			pod := validPod()
			tc.change(pod, &pod.Spec.Containers[0])
			switch errs := ValidateCreate(Pods, pod); {
			case tc.path == "" && len(errs) == 0:
			case len(errs) != 1 || errs[0].Field != tc.path || !strings.Contains(errs[0].Error(), tc.words):
				t.Errorf("got %v, want one error at %q with %q", errs, tc.path, tc.words)
			}
		})
	}
}
