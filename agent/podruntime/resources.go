// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"fmt"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/api"
)

const (
	// The kernel's scale of CPU weight: 1024 for one core, 2 at least.
	sharesPerCPU = 1024
	minShares    = 2
	maxShares    = 262144
	// cpuPeriod and minQuota are in microseconds.
	cpuPeriod = 100_000
	minQuota  = 1_000

	// Scores for the kernel's OOM killer, from -1000 (never) to 1000 (first), as
	// the kubelet gives them. A Burstable container is between the other two.
	guaranteedOOMScore = -997
	bestEffortOOMScore = 1000
	minBurstableScore  = 1000 + guaranteedOOMScore
	maxBurstableScore  = bestEffortOOMScore - 1
)

// containerResources are the limits of a container's cgroup. memoryCapacity is the
// node's, in bytes.
func containerResources(pod *corev1.Pod, c *corev1.Container, memoryCapacity int64) *runtimeapi.LinuxContainerResources {
	r := &runtimeapi.LinuxContainerResources{
		CpuShares:          cpuShares(c),
		CpuPeriod:          cpuPeriod,
		MemoryLimitInBytes: c.Resources.Limits.Memory().Value(),
		OomScoreAdj:        oomScoreAdj(pod, c, memoryCapacity),
	}
	if limit := c.Resources.Limits.Cpu().MilliValue(); limit > 0 {
		r.CpuQuota = max(limit*cpuPeriod/1000, minQuota)
	}
	return r
}

// cpuShares follows the request, or the limit where there is no request.
func cpuShares(c *corev1.Container) int64 {
	cpu, ok := c.Resources.Requests[corev1.ResourceCPU]
	if !ok {
		cpu = c.Resources.Limits[corev1.ResourceCPU]
	}
	return min(max(cpu.MilliValue()*sharesPerCPU/1000, minShares), maxShares)
}

// oomScoreAdj: of the Burstable containers, the one with the smallest share of the
// node's memory requested is killed first.
func oomScoreAdj(pod *corev1.Pod, c *corev1.Container, memoryCapacity int64) int64 {
	switch api.QoSClass(pod) {
	case corev1.PodQOSGuaranteed:
		return guaranteedOOMScore
	case corev1.PodQOSBestEffort:
		return bestEffortOOMScore
	}
	score := 1000 - int64(1000*(float64(c.Resources.Requests.Memory().Value())/float64(memoryCapacity)))
	return min(max(score, minBurstableScore), maxBurstableScore)
}

// machineMemory returns the machine's memory in bytes.
func machineMemory() (int64, error) {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0, fmt.Errorf("reading the size of the memory: %w", err)
	}
	return int64(uint64(info.Totalram) * uint64(info.Unit)), nil
}
