// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/agent/podtypes"
)

// Status asks the runtime whether it can run pods.
func (r *Runtime) Status(ctx context.Context) (podtypes.RuntimeStatus, error) {
	reply, err := r.cfg.CRI.Runtime.Status(ctx, &runtimeapi.StatusRequest{})
	if err != nil {
		return podtypes.RuntimeStatus{}, fmt.Errorf("runtime status: %w", err)
	}
	s := toRuntimeStatus(reply.GetStatus().GetConditions())
	s.Handlers, s.Features = toHandlers(reply.GetRuntimeHandlers()), toFeatures(reply.GetFeatures())
	return s, nil
}

func toHandlers(all []*runtimeapi.RuntimeHandler) []corev1.NodeRuntimeHandler {
	var out []corev1.NodeRuntimeHandler
	for _, h := range all {
		out = append(out, corev1.NodeRuntimeHandler{Name: h.GetName(), Features: &corev1.NodeRuntimeHandlerFeatures{
			RecursiveReadOnlyMounts: ptr.To(h.GetFeatures().GetRecursiveReadOnlyMounts()),
			UserNamespaces:          ptr.To(h.GetFeatures().GetUserNamespaces()),
		}})
	}
	slices.SortFunc(out, func(a, b corev1.NodeRuntimeHandler) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func toFeatures(f *runtimeapi.RuntimeFeatures) *corev1.NodeFeatures {
	if f == nil {
		return nil
	}
	return &corev1.NodeFeatures{SupplementalGroupsPolicy: ptr.To(f.GetSupplementalGroupsPolicy())}
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
