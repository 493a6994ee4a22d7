// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package fake

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// runtimeServer has the methods of CRI's RuntimeService.
type runtimeServer struct {
	runtimeapi.UnimplementedRuntimeServiceServer
	*Runtime
}

type sandbox struct {
	id        string
	number    int
	config    *runtimeapi.PodSandboxConfig
	ready     bool
	ip        string
	createdAt int64
}

func (s *sandbox) state() runtimeapi.PodSandboxState {
	if s.ready {
		return runtimeapi.PodSandboxState_SANDBOX_READY
	}
	return runtimeapi.PodSandboxState_SANDBOX_NOTREADY
}

func (s *sandbox) status() *runtimeapi.PodSandboxStatus {
	return &runtimeapi.PodSandboxStatus{
		Id:          s.id,
		Metadata:    s.config.GetMetadata(),
		State:       s.state(),
		CreatedAt:   s.createdAt,
		Network:     &runtimeapi.PodSandboxNetworkStatus{Ip: s.ip},
		Linux:       &runtimeapi.LinuxPodSandboxStatus{Namespaces: &runtimeapi.Namespace{Options: s.config.GetLinux().GetSecurityContext().GetNamespaceOptions()}},
		Labels:      s.config.GetLabels(),
		Annotations: s.config.GetAnnotations(),
	}
}

// BreakSandbox makes a sandbox not ready, as when its pause process dies; its
// containers run on.
func (r *Runtime) BreakSandbox(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sandboxes[id].ready = false
}

// DropAddress takes a ready sandbox's address away.
func (r *Runtime) DropAddress(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sandboxes[id].ip = ""
}

// SandboxIDs lists the sandboxes, oldest first.
func (r *Runtime) SandboxIDs() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var ids []string
	for _, s := range r.sortedSandboxes() {
		ids = append(ids, s.id)
	}
	return ids
}

func (r *Runtime) sortedSandboxes() []*sandbox {
	return slices.SortedFunc(maps.Values(r.sandboxes), func(a, b *sandbox) int { return cmp.Compare(a.number, b.number) })
}

// RunPodSandbox makes a sandbox; its name is taken until it is removed.
func (r *runtimeServer) RunPodSandbox(_ context.Context, q *runtimeapi.RunPodSandboxRequest) (*runtimeapi.RunPodSandboxResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.sandboxes {
		if proto.Equal(s.config.GetMetadata(), q.GetConfig().GetMetadata()) {
			return nil, status.Errorf(codes.Unknown, "sandbox name is reserved for %q", s.id)
		}
	}
	id := r.newID("sandbox")
	s := &sandbox{id: id, number: r.lastID, config: q.GetConfig(), ready: true, createdAt: now()}
	if q.GetConfig().GetLinux().GetSecurityContext().GetNamespaceOptions().GetNetwork() == runtimeapi.NamespaceMode_POD {
		s.ip = fmt.Sprintf("10.0.%d.%d", r.lastID/250, r.lastID%250+1)
	}
	r.sandboxes[id] = s
	r.emit(runtimeapi.ContainerEventType_CONTAINER_STARTED_EVENT, id, id)
	return &runtimeapi.RunPodSandboxResponse{PodSandboxId: id}, nil
}

// StopPodSandbox kills the sandbox's containers and gives its address back.
func (r *runtimeServer) StopPodSandbox(_ context.Context, q *runtimeapi.StopPodSandboxRequest) (*runtimeapi.StopPodSandboxResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopSandbox(q.GetPodSandboxId())
	return &runtimeapi.StopPodSandboxResponse{}, nil
}

func (r *Runtime) stopSandbox(id string) {
	s, ok := r.sandboxes[id]
	if !ok {
		return
	}
	for _, c := range r.sortedContainers() {
		if c.sandbox == s.id {
			r.end(c, killed)
		}
	}
	if s.ready {
		s.ready, s.ip = false, ""
		r.emit(runtimeapi.ContainerEventType_CONTAINER_STOPPED_EVENT, id, id)
	}
}

// RemovePodSandbox removes the sandbox with all its containers.
func (r *runtimeServer) RemovePodSandbox(_ context.Context, q *runtimeapi.RemovePodSandboxRequest) (*runtimeapi.RemovePodSandboxResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id := q.GetPodSandboxId()
	r.stopSandbox(id)
	for _, c := range r.sortedContainers() {
		if c.sandbox == id {
			r.remove(c)
		}
	}
	if _, ok := r.sandboxes[id]; ok {
		r.emit(runtimeapi.ContainerEventType_CONTAINER_DELETED_EVENT, id, id)
		delete(r.sandboxes, id)
	}
	return &runtimeapi.RemovePodSandboxResponse{}, nil
}

// PodSandboxStatus describes a sandbox.
func (r *runtimeServer) PodSandboxStatus(_ context.Context, q *runtimeapi.PodSandboxStatusRequest) (*runtimeapi.PodSandboxStatusResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok := r.sandboxes[q.GetPodSandboxId()]
	if !ok {
		return nil, status.Errorf(codes.NotFound, "sandbox %q: not found", q.GetPodSandboxId())
	}
	return &runtimeapi.PodSandboxStatusResponse{Status: s.status()}, nil
}

// ListPodSandbox lists sandboxes, oldest first.
func (r *runtimeServer) ListPodSandbox(_ context.Context, q *runtimeapi.ListPodSandboxRequest) (*runtimeapi.ListPodSandboxResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	reply := &runtimeapi.ListPodSandboxResponse{}
	for _, s := range r.sortedSandboxes() {
		if !matches(s.config.GetLabels(), q.GetFilter().GetLabelSelector()) {
			continue
		}
		reply.Items = append(reply.Items, &runtimeapi.PodSandbox{
			Id: s.id, Metadata: s.config.GetMetadata(), State: s.state(), CreatedAt: s.createdAt,
			Labels: s.config.GetLabels(), Annotations: s.config.GetAnnotations(),
		})
	}
	return reply, nil
}

func matches(labels, selector map[string]string) bool {
	for key, value := range selector {
		if labels[key] != value {
			return false
		}
	}
	return true
}
