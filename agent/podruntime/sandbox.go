// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/api"
)

// sandboxConfig is what the runtime makes the pod's sandbox from. It also goes
// with the creation of each container. The warnings are for users to see.
func (r *Runtime) sandboxConfig(pod *corev1.Pod, attempt uint32) (config *runtimeapi.PodSandboxConfig, warnings []string, err error) {
	dns, warnings, err := r.dnsConfig(pod)
	if err != nil {
		return nil, nil, err
	}
	userns, err := r.userNamespace(pod)
	if err != nil {
		return nil, nil, err
	}
	config = &runtimeapi.PodSandboxConfig{
		Metadata: &runtimeapi.PodSandboxMetadata{
			Name: pod.Name, Namespace: pod.Namespace, Uid: string(pod.UID), Attempt: attempt,
		},
		LogDirectory: r.podLogDir(pod),
		DnsConfig:    dns,
		PortMappings: portMappings(pod),
		Labels:       r.sandboxLabels(pod),
		Annotations:  pod.Annotations,
		Linux: &runtimeapi.LinuxPodSandboxConfig{
			CgroupParent:    r.cfg.CgroupParent(pod),
			SecurityContext: sandboxSecurity(pod, userns),
			Sysctls:         sysctls(pod),
		},
	}
	if !pod.Spec.HostNetwork {
		config.Hostname, err = kernelHostname(pod, r.cfg.ClusterDomain)
	}
	return config, warnings, err
}

// portMappings are the host ports of the pod. In the host's network a port needs
// no mapping.
func portMappings(pod *corev1.Pod) []*runtimeapi.PortMapping {
	if pod.Spec.HostNetwork {
		return nil
	}
	var all []*runtimeapi.PortMapping
	for _, c := range api.LongRunning(&pod.Spec) {
		for _, p := range c.Ports {
			if p.HostPort > 0 {
				all = append(all, &runtimeapi.PortMapping{
					Protocol:      protocol(p.Protocol),
					ContainerPort: p.ContainerPort,
					HostPort:      p.HostPort,
					HostIp:        p.HostIP,
				})
			}
		}
	}
	return all
}

func protocol(p corev1.Protocol) runtimeapi.Protocol {
	switch p {
	case corev1.ProtocolUDP:
		return runtimeapi.Protocol_UDP
	case corev1.ProtocolSCTP:
		return runtimeapi.Protocol_SCTP
	}
	return runtimeapi.Protocol_TCP
}
