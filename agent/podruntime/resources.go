// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/hugepages"
	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/agent/resize"
)

// containerResources are the limits of a container's cgroup. memoryCapacity is the
// node's, in bytes.
func containerResources(pod *corev1.Pod, c *corev1.Container, memoryCapacity int64) *runtimeapi.LinuxContainerResources {
	r := toRuntimeResources(resize.Figures(pod, c))
	r.OomScoreAdj = oomScoreAdj(pod, c, memoryCapacity)
	r.HugepageLimits = hugePageLimits(pod, c)
	return r
}

// hugePageLimits are the container's, or else the pod's.
func hugePageLimits(pod *corev1.Pod, c *corev1.Container) (out []*runtimeapi.HugepageLimit) {
	var ofPod corev1.ResourceList
	if r := pod.Spec.Resources; r != nil {
		ofPod = r.Limits
	}
	limits := hugepages.Limits(ofPod, c.Resources.Limits)
	for _, size := range slices.Sorted(maps.Keys(limits)) {
		out = append(out, &runtimeapi.HugepageLimit{PageSize: size, Limit: limits[size]})
	}
	return out
}

// toRuntimeResources are the figures that can change while the container runs.
func toRuntimeResources(f podtypes.ContainerResources) *runtimeapi.LinuxContainerResources {
	return &runtimeapi.LinuxContainerResources{
		CpuShares:          f.CPUShares,
		CpuQuota:           f.CPUQuota,
		CpuPeriod:          f.CPUPeriod,
		MemoryLimitInBytes: f.MemoryLimit,
	}
}

// readResources is nil if the runtime does not tell.
func readResources(r *runtimeapi.ContainerResources) *podtypes.ContainerResources {
	linux := r.GetLinux()
	if linux == nil {
		return nil
	}
	return &podtypes.ContainerResources{
		CPUShares:   linux.GetCpuShares(),
		CPUQuota:    max(linux.GetCpuQuota(), 0),
		CPUPeriod:   linux.GetCpuPeriod(),
		MemoryLimit: max(linux.GetMemoryLimitInBytes(), 0),
	}
}

// machineMemory returns the machine's memory in bytes.
func machineMemory() (int64, error) {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0, fmt.Errorf("reading the size of the memory: %w", err)
	}
	return int64(uint64(info.Totalram) * uint64(info.Unit)), nil
}
