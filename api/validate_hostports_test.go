// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// withInits gives the pod init containers that each take the port of its container;
// the first of them may be a sidecar.
func withInits(count int, sidecar bool) change {
	return ofSpec(func(s *corev1.PodSpec) {
		s.InitContainers = nil
		for _, name := range []string{"a", "b"}[:count] {
			s.InitContainers = append(s.InitContainers, corev1.Container{Name: name, Image: "busybox:1", Ports: []corev1.ContainerPort{port("", 80, 8080)}})
		}
		if sidecar {
			s.InitContainers[0].RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
		}
	})
}

func TestHostPortsOfInitContainers(t *testing.T) {
	udp := port("", 80, 8080)
	udp.Protocol = corev1.ProtocolUDP
	testAccepted(t, map[string]change{
		"one after the other": withInits(2, false),
		"another protocol":    func(_ *corev1.Pod, c *corev1.Container) { c.Ports = append(c.Ports, udp) },
		"the node's network":  func(p *corev1.Pod, c *corev1.Container) { p.Spec.HostNetwork, c.Ports[0].HostPort = true, 80 },
	})
	testRefused(t, map[string]refused{
		"a sidecar": {withInits(1, true), "spec.containers[0].ports[0].hostPort", `Duplicate value: "TCP//8080"`},
	})
}
