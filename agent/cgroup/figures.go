// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"github.com/opencontainers/cgroups"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/api"
)

// unlimited is a limit that a cgroup does not have.
const unlimited = -1

// podResources are the figures of a pod's cgroup. Shares follow from what the pod
// requests; a limit is set only if it bounds the pod as a whole, that is, if each of
// its containers has one.
func podResources(pod *corev1.Pod) cgroups.Resources {
	requests := api.PodRequests(pod)
	r := cgroups.Resources{
		CpuShares:   sharesOf(requests.Cpu().MilliValue()),
		CpuPeriod:   podtypes.CPUPeriod,
		CpuQuota:    unlimited,
		Memory:      unlimited,
		SkipDevices: true,
	}
	if limit, ok := api.PodLimit(pod, corev1.ResourceCPU); ok {
		r.CpuQuota = podtypes.CPUQuota(limit.MilliValue())
	}
	if limit, ok := api.PodLimit(pod, corev1.ResourceMemory); ok {
		r.Memory = limit.Value()
	}
	return withWeight(r)
}

// burstableResources are the figures of the Burstable class: together its pods weigh
// what they request.
func burstableResources(pods []*corev1.Pod) cgroups.Resources {
	var sum resource.Quantity
	for _, pod := range pods {
		if api.QoSClass(pod) == corev1.PodQOSBurstable {
			requests := api.PodRequests(pod)
			sum.Add(*requests.Cpu())
		}
	}
	return sharesOnly(sharesOf(sum.MilliValue()))
}

// sharesOf is the weight of a request in thousandths of a CPU.
func sharesOf(milli int64) uint64 { return uint64(podtypes.CPUShares(milli)) }

func sharesOnly(shares uint64) cgroups.Resources {
	return withWeight(cgroups.Resources{CpuShares: shares, SkipDevices: true})
}

// withWeight adds the figure that version 2 has instead of shares.
func withWeight(r cgroups.Resources) cgroups.Resources {
	r.CpuWeight = cgroups.ConvertCPUSharesToCgroupV2Value(r.CpuShares)
	return r
}
