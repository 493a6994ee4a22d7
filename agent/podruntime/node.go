// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"context"
	"fmt"
	"strings"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/podtypes"
)

// Status asks the runtime whether it can run pods.
func (r *Runtime) Status(ctx context.Context) (podtypes.RuntimeStatus, error) {
	reply, err := r.cfg.CRI.Runtime.Status(ctx, &runtimeapi.StatusRequest{})
	if err != nil {
		return podtypes.RuntimeStatus{}, fmt.Errorf("runtime status: %w", err)
	}
	return toRuntimeStatus(reply.GetStatus().GetConditions()), nil
}

func toRuntimeStatus(conditions []*runtimeapi.RuntimeCondition) podtypes.RuntimeStatus {
	var s podtypes.RuntimeStatus
	var reasons, messages []string
	for _, c := range conditions {
		switch c.GetType() {
		case runtimeapi.RuntimeReady:
			s.Ready = c.GetStatus()
		case runtimeapi.NetworkReady:
			s.NetworkReady = c.GetStatus()
		default:
			continue
		}
		if !c.GetStatus() {
			reasons = append(reasons, c.GetReason())
			messages = append(messages, c.GetMessage())
		}
	}
	s.Reason, s.Message = strings.Join(reasons, ","), strings.Join(messages, "; ")
	return s
}

// RuntimeVersion names the runtime, such as containerd v2.4.2.
type RuntimeVersion struct {
	Name    string
	Version string
}

// Version asks the runtime what it is.
func (r *Runtime) Version(ctx context.Context) (RuntimeVersion, error) {
	reply, err := r.cfg.CRI.Runtime.Version(ctx, &runtimeapi.VersionRequest{})
	if err != nil {
		return RuntimeVersion{}, fmt.Errorf("runtime version: %w", err)
	}
	return RuntimeVersion{Name: reply.GetRuntimeName(), Version: reply.GetRuntimeVersion()}, nil
}

// SystemdCgroups tells whether the runtime's cgroups are systemd's, and
// Config.CgroupParent therefore a slice.
func (r *Runtime) SystemdCgroups(ctx context.Context) (bool, error) {
	reply, err := r.cfg.CRI.Runtime.RuntimeConfig(ctx, &runtimeapi.RuntimeConfigRequest{})
	if err != nil {
		return false, fmt.Errorf("cgroup driver of the runtime: %w", err)
	}
	return reply.GetLinux().GetCgroupDriver() == runtimeapi.CgroupDriver_SYSTEMD, nil
}

// UpdatePodCIDR tells the runtime the node's pod range. One that has a network
// configuration of its own takes no notice.
func (r *Runtime) UpdatePodCIDR(ctx context.Context, cidr string) error {
	_, err := r.cfg.CRI.Runtime.UpdateRuntimeConfig(ctx, &runtimeapi.UpdateRuntimeConfigRequest{
		RuntimeConfig: &runtimeapi.RuntimeConfig{NetworkConfig: &runtimeapi.NetworkConfig{PodCidr: cidr}},
	})
	if err != nil {
		return fmt.Errorf("pod range %s: %w", cidr, err)
	}
	return nil
}
