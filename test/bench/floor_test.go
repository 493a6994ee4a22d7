// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent"
	"github.com/berth-run/berth/agent/cri"
)

// floor runs pods by the calls that every way to run one must make, and no others.
type floor struct {
	cri          *cri.Client
	logDir       string
	cgroupParent string
}

func newFloor(c *cluster) *floor {
	return &floor{
		cri:          c.cri,
		logDir:       filepath.Join(c.stateDir, "bench-logs"),
		cgroupParent: "/berth-" + agent.NodeID(c.stateDir) + "/bench",
	}
}

// floorPod is what start has made.
type floorPod struct{ sandbox, container string }

// start starts a pod of one container.
func (f *floor) start(ctx context.Context, name string) (*floorPod, error) {
	logs := filepath.Join(f.logDir, name)
	if err := os.MkdirAll(filepath.Join(logs, containerName), 0o755); err != nil {
		return nil, err
	}
	config := f.sandboxConfig(name, logs)
	sandbox, err := f.cri.Runtime.RunPodSandbox(ctx, &runtimeapi.RunPodSandboxRequest{Config: config})
	if err != nil {
		return nil, fmt.Errorf("RunPodSandbox: %w", err)
	}
	container, err := f.cri.Runtime.CreateContainer(ctx, &runtimeapi.CreateContainerRequest{
		PodSandboxId: sandbox.GetPodSandboxId(), Config: containerConfig(), SandboxConfig: config,
	})
	if err != nil {
		return nil, fmt.Errorf("CreateContainer: %w", err)
	}
	_, err = f.cri.Runtime.StartContainer(ctx, &runtimeapi.StartContainerRequest{ContainerId: container.GetContainerId()})
	if err != nil {
		return nil, fmt.Errorf("StartContainer: %w", err)
	}
	return &floorPod{sandbox.GetPodSandboxId(), container.GetContainerId()}, nil
}

// end stops and removes the pod, with the grace that berth's pods have.
func (f *floor) end(ctx context.Context, p *floorPod) error {
	if _, err := f.cri.Runtime.StopContainer(ctx, &runtimeapi.StopContainerRequest{ContainerId: p.container, Timeout: 30}); err != nil {
		return fmt.Errorf("StopContainer: %w", err)
	}
	if _, err := f.cri.Runtime.StopPodSandbox(ctx, &runtimeapi.StopPodSandboxRequest{PodSandboxId: p.sandbox}); err != nil {
		return fmt.Errorf("StopPodSandbox: %w", err)
	}
	if _, err := f.cri.Runtime.RemoveContainer(ctx, &runtimeapi.RemoveContainerRequest{ContainerId: p.container}); err != nil {
		return fmt.Errorf("RemoveContainer: %w", err)
	}
	if _, err := f.cri.Runtime.RemovePodSandbox(ctx, &runtimeapi.RemovePodSandboxRequest{PodSandboxId: p.sandbox}); err != nil {
		return fmt.Errorf("RemovePodSandbox: %w", err)
	}
	return nil
}

func (f *floor) sandboxConfig(name, logs string) *runtimeapi.PodSandboxConfig {
	return &runtimeapi.PodSandboxConfig{
		Metadata:     &runtimeapi.PodSandboxMetadata{Name: name, Namespace: "bench", Uid: name},
		Hostname:     name,
		LogDirectory: logs,
		DnsConfig:    &runtimeapi.DNSConfig{},
		Linux: &runtimeapi.LinuxPodSandboxConfig{
			CgroupParent:    f.cgroupParent + "/pod" + name,
			SecurityContext: &runtimeapi.LinuxSandboxSecurityContext{NamespaceOptions: namespaces()},
		},
	}
}

// What no container of a pod sees or writes of /proc and /sys, unless it is
// privileged. To hide it costs time, in berth's pods as well.
var (
	maskedPaths = []string{
		"/proc/asound", "/proc/acpi", "/proc/interrupts", "/proc/kcore", "/proc/keys",
		"/proc/latency_stats", "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug",
		"/proc/scsi", "/sys/firmware", "/sys/devices/virtual/powercap",
	}
	readonlyPaths = []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"}
)

func containerConfig() *runtimeapi.ContainerConfig {
	return &runtimeapi.ContainerConfig{
		Metadata: &runtimeapi.ContainerMetadata{Name: containerName},
		Image:    &runtimeapi.ImageSpec{Image: image},
		LogPath:  filepath.Join(containerName, "0.log"),
		Linux: &runtimeapi.LinuxContainerConfig{
			Resources: &runtimeapi.LinuxContainerResources{},
			SecurityContext: &runtimeapi.LinuxContainerSecurityContext{
				NamespaceOptions: namespaces(), MaskedPaths: maskedPaths, ReadonlyPaths: readonlyPaths,
			},
		},
	}
}

func namespaces() *runtimeapi.NamespaceOption {
	return &runtimeapi.NamespaceOption{Pid: runtimeapi.NamespaceMode_CONTAINER}
}
