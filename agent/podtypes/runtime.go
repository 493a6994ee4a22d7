// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podtypes

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ContainerState is a container's state as the runtime reports it.
type ContainerState string

// The states of a container.
const (
	ContainerCreated ContainerState = "created"
	ContainerRunning ContainerState = "running"
	ContainerExited  ContainerState = "exited"
	ContainerUnknown ContainerState = "unknown"
)

// Container is one container as a listing shows it.
type Container struct {
	ID        string
	Name      string
	SandboxID string
	Attempt   uint32
	State     ContainerState
	CreatedAt time.Time
}

// Sandbox is one pod sandbox as a listing shows it.
type Sandbox struct {
	ID        string
	Attempt   uint32
	Ready     bool
	CreatedAt time.Time
}

// RuntimePod is what a listing of the runtime shows of one pod: all its
// sandboxes and containers, in whatever state.
type RuntimePod struct {
	UID       types.UID
	Namespace string
	Name      string
	// Sandboxes and Containers are newest first, by attempt.
	Sandboxes  []Sandbox
	Containers []Container
}

// Running tells whether a container runs or a sandbox is ready.
func (p *RuntimePod) Running() bool {
	for _, s := range p.Sandboxes {
		if s.Ready {
			return true
		}
	}
	for _, c := range p.Containers {
		if c.State == ContainerRunning {
			return true
		}
	}
	return false
}

// ContainerStatus is the whole of what the runtime knows of one container.
type ContainerStatus struct {
	Container
	StartedAt  time.Time
	FinishedAt time.Time
	ExitCode   int32
	// Reason and Message as the runtime gives them, such as OOMKilled.
	Reason  string
	Message string
	// Image is the name that was asked for, ImageID what it resolved to.
	Image   string
	ImageID string
	// Hash is the container identity (see podruntime) that it was made with.
	Hash string
	// RestartCount is the number that the container was made with.
	RestartCount int32
	LogPath      string
	// RecursiveReadOnly are the paths in the container of the mounts below which
	// nothing can be written.
	RecursiveReadOnly []string
	// Resources are nil if the runtime does not tell.
	Resources *ContainerResources
	// StopSignal is what it is told to end by, unless empty.
	StopSignal corev1.Signal
}

// SandboxStatus is the whole of what the runtime knows of one sandbox.
type SandboxStatus struct {
	Sandbox
	// IPs of the sandbox's network, primary first; none with the host's network.
	IPs         []string
	HostNetwork bool
}

// PodStatus is what the runtime knows of a pod, read at one time.
type PodStatus struct {
	UID       types.UID
	Namespace string
	Name      string
	// Sandboxes and Containers are newest first, by attempt.
	Sandboxes  []SandboxStatus
	Containers []ContainerStatus
	// At is when the reading began.
	At time.Time
}

// Current returns the newest sandbox, or nil.
func (s *PodStatus) Current() *SandboxStatus {
	if s == nil || len(s.Sandboxes) == 0 {
		return nil
	}
	return &s.Sandboxes[0]
}

// Latest returns the newest container of that name, in any sandbox, or nil.
func (s *PodStatus) Latest(name string) *ContainerStatus {
	if s == nil {
		return nil
	}
	for i := range s.Containers {
		if s.Containers[i].Name == name {
			return &s.Containers[i]
		}
	}
	return nil
}

// Running tells whether a container runs or a sandbox is ready.
func (s *PodStatus) Running() bool {
	if s == nil {
		return false
	}
	for i := range s.Sandboxes {
		if s.Sandboxes[i].Ready {
			return true
		}
	}
	for i := range s.Containers {
		if s.Containers[i].State == ContainerRunning {
			return true
		}
	}
	return false
}

// RuntimeStatus says whether the runtime can run pods.
type RuntimeStatus struct {
	// Ready: the runtime answers and can start containers.
	Ready bool
	// NetworkReady: it can give pods a network of their own.
	NetworkReady bool
	// Reason and Message say why one of them is false.
	Reason  string
	Message string
	// Handlers are what it can run pods with; the default one has no name. Features are
	// what all of them can. Both are nil while they are not known.
	Handlers []corev1.NodeRuntimeHandler
	Features *corev1.NodeFeatures
}
