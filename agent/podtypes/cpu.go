// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podtypes

// The kernel's scales of what cgroups may use of the CPUs; see
// Documentation/scheduler/sched-bwc.rst and admin-guide/cgroup-v2.rst of the kernel.
const (
	minCPUShares = 2
	maxCPUShares = 262144
	sharesPerCPU = 1024
	// CPUPeriod is what quotas refer to here; it and minCPUQuota are in µs.
	CPUPeriod   = 100_000
	minCPUQuota = 1_000

	milliCPUs = 1_000
)

// CPUShares is the weight of a request in thousandths of a CPU.
func CPUShares(milli int64) int64 {
	return min(max(milli*sharesPerCPU/milliCPUs, minCPUShares), maxCPUShares)
}

// SharesMilliCPU is the request that has these shares.
func SharesMilliCPU(shares int64) int64 {
	return (shares*milliCPUs + sharesPerCPU - 1) / sharesPerCPU
}

// CPUQuota is the CPU time in µs per CPUPeriod of a limit in thousandths of a CPU.
func CPUQuota(milli int64) int64 {
	return max(milli*CPUPeriod/milliCPUs, minCPUQuota)
}

// LimitMilliCPU is the limit that a container has by its quota; 0 if it has none.
func (r *ContainerResources) LimitMilliCPU() int64 {
	if r.CPUQuota <= 0 || r.CPUPeriod <= 0 {
		return 0
	}
	return r.CPUQuota * milliCPUs / r.CPUPeriod
}
