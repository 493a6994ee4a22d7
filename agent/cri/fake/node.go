// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package fake

import (
	"context"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Version names the fake.
func (r *runtimeServer) Version(context.Context, *runtimeapi.VersionRequest) (*runtimeapi.VersionResponse, error) {
	return &runtimeapi.VersionResponse{Version: "0.1.0", RuntimeName: "fake", RuntimeVersion: "1", RuntimeApiVersion: "v1"}, nil
}

// Status says what SetReady set.
func (r *runtimeServer) Status(context.Context, *runtimeapi.StatusRequest) (*runtimeapi.StatusResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	condition := func(kind string) *runtimeapi.RuntimeCondition {
		c := &runtimeapi.RuntimeCondition{Type: kind, Status: !r.notReady}
		if r.notReady {
			c.Reason, c.Message = "SetNotReady", kind+" was set to false"
		}
		return c
	}
	return &runtimeapi.StatusResponse{Status: &runtimeapi.RuntimeStatus{
		Conditions: []*runtimeapi.RuntimeCondition{condition(runtimeapi.RuntimeReady), condition(runtimeapi.NetworkReady)},
	}}, nil
}

// RuntimeConfig says that cgroups are plain files.
func (r *runtimeServer) RuntimeConfig(context.Context, *runtimeapi.RuntimeConfigRequest) (*runtimeapi.RuntimeConfigResponse, error) {
	return &runtimeapi.RuntimeConfigResponse{Linux: &runtimeapi.LinuxRuntimeConfiguration{CgroupDriver: runtimeapi.CgroupDriver_CGROUPFS}}, nil
}

// UpdateRuntimeConfig is accepted; Calls shows it.
func (r *runtimeServer) UpdateRuntimeConfig(context.Context, *runtimeapi.UpdateRuntimeConfigRequest) (*runtimeapi.UpdateRuntimeConfigResponse, error) {
	return &runtimeapi.UpdateRuntimeConfigResponse{}, nil
}
