// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// setAddresses fills in the node's and the pod's addresses. A pod's address is
// that of its current sandbox while that is ready, never one of a former
// sandbox; only a pod that has ended keeps the address that it had.
func (in *Input) setAddresses(status *corev1.PodStatus) {
	for _, ip := range in.HostIPs {
		status.HostIPs = append(status.HostIPs, corev1.HostIP{IP: ip})
	}
	if len(in.HostIPs) > 0 {
		status.HostIP = in.HostIPs[0]
	}
	status.PodIPs = in.podIPs()
	if len(status.PodIPs) > 0 {
		status.PodIP = status.PodIPs[0].IP
	}
}

func (in *Input) podIPs() []corev1.PodIP {
	sandbox := in.Runtime.Current()
	switch {
	case sandbox != nil && sandbox.Ready && in.Pod.Spec.HostNetwork:
		return toPodIPs(in.HostIPs)
	case sandbox != nil && sandbox.Ready && len(sandbox.IPs) > 0:
		return toPodIPs(sandbox.IPs)
	case in.Ended:
		return slices.Clone(in.Previous.PodIPs)
	}
	return nil
}

func toPodIPs(ips []string) []corev1.PodIP {
	var out []corev1.PodIP
	for _, ip := range ips {
		out = append(out, corev1.PodIP{IP: ip})
	}
	return out
}
