// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package fake

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// UseMemory sets what the container uses of its memory: a limit below it is refused,
// as a kernel with cgroup v1 does.
func (r *Runtime) UseMemory(containerID string, bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.containers[containerID].memory = bytes
}

// UpdateContainerResources changes the resources of a container that was not removed;
// what is 0 stays.
func (r *runtimeServer) UpdateContainerResources(_ context.Context, q *runtimeapi.UpdateContainerResourcesRequest) (*runtimeapi.UpdateContainerResourcesResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.containers[q.GetContainerId()]
	if !ok {
		return nil, status.Errorf(codes.NotFound, "container %q: not found", q.GetContainerId())
	}
	if limit := q.GetLinux().GetMemoryLimitInBytes(); limit > 0 && limit < c.memory {
		return nil, status.Error(codes.Unknown, "memory.limit_in_bytes: device or resource busy")
	}
	config := proto.CloneOf(c.config)
	if config.Linux == nil {
		config.Linux = &runtimeapi.LinuxContainerConfig{}
	}
	if config.Linux.Resources == nil {
		config.Linux.Resources = &runtimeapi.LinuxContainerResources{}
	}
	proto.Merge(config.Linux.Resources, q.GetLinux())
	c.config = config
	return &runtimeapi.UpdateContainerResourcesResponse{}, nil
}

// ContainerStats tells what a container uses.
func (r *runtimeServer) ContainerStats(_ context.Context, q *runtimeapi.ContainerStatsRequest) (*runtimeapi.ContainerStatsResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.containers[q.GetContainerId()]
	if !ok {
		return nil, status.Errorf(codes.NotFound, "container %q: not found", q.GetContainerId())
	}
	return &runtimeapi.ContainerStatsResponse{Stats: &runtimeapi.ContainerStats{
		Memory: &runtimeapi.MemoryUsage{UsageBytes: &runtimeapi.UInt64Value{Value: uint64(c.memory)}},
	}}, nil
}
