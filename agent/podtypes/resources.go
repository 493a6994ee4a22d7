// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podtypes

// ContainerResources are those figures of a container's cgroup that can change while
// it runs. 0 is a limit that it does not have.
type ContainerResources struct {
	// CPUShares weigh the container against others: 1024 for one core.
	CPUShares int64
	// CPUQuota is the time that it may use in each CPUPeriod, both in µs.
	CPUQuota  int64
	CPUPeriod int64
	// MemoryLimit is in bytes.
	MemoryLimit int64
}

// Resizing is how far the resize of a pod is that the node was asked for last. The
// zero value is of a pod that has the resources it asks for.
type Resizing struct {
	// Pending is why the node does not begin: Reason Deferred or Infeasible.
	Pending *RejectError
	// Err is what failed when it was last tried.
	Err string
}
