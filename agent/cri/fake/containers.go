// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package fake

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

type container struct {
	id      string
	number  int
	sandbox string
	config  *runtimeapi.ContainerConfig
	image   *runtimeapi.Image
	// memory in use, in bytes.
	memory int64

	state      runtimeapi.ContainerState
	createdAt  int64
	startedAt  int64
	finishedAt int64
	exit       Exit
	process    Process
	// ended is closed when the container has exited.
	ended chan struct{}
}

func (r *Runtime) sortedContainers() []*container {
	return slices.SortedFunc(maps.Values(r.containers), func(a, b *container) int { return cmp.Compare(a.number, b.number) })
}

// ContainerIDs lists the containers of that name, oldest first.
func (r *Runtime) ContainerIDs(name string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var ids []string
	for _, c := range r.sortedContainers() {
		if c.config.GetMetadata().GetName() == name {
			ids = append(ids, c.id)
		}
	}
	return ids
}

// CreateContainer makes a container in a ready sandbox, from an image that is
// there; its name is taken until it is removed.
func (r *runtimeServer) CreateContainer(_ context.Context, q *runtimeapi.CreateContainerRequest) (*runtimeapi.CreateContainerResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok := r.sandboxes[q.GetPodSandboxId()]
	if !ok || !s.ready {
		return nil, status.Errorf(codes.NotFound, "no ready sandbox %q", q.GetPodSandboxId())
	}
	image := r.findImage(q.GetConfig().GetImage().GetImage())
	if image == nil {
		return nil, status.Errorf(codes.NotFound, "image %q: not found", q.GetConfig().GetImage().GetImage())
	}
	for _, c := range r.containers {
		uid := r.sandboxes[c.sandbox].config.GetMetadata().GetUid()
		if uid == s.config.GetMetadata().GetUid() && proto.Equal(c.config.GetMetadata(), q.GetConfig().GetMetadata()) {
			return nil, status.Errorf(codes.Unknown, "container name is reserved for %q", c.id)
		}
	}
	id := r.newID("container")
	r.containers[id] = &container{
		id: id, number: r.lastID, sandbox: s.id, config: q.GetConfig(), image: image,
		createdAt: now(), process: r.process(q.GetConfig().GetMetadata().GetName()), ended: make(chan struct{}),
	}
	r.emit(runtimeapi.ContainerEventType_CONTAINER_CREATED_EVENT, id, s.id)
	return &runtimeapi.CreateContainerResponse{ContainerId: id}, nil
}

// StartContainer starts a created container in a ready sandbox, and makes its log.
func (r *runtimeServer) StartContainer(_ context.Context, q *runtimeapi.StartContainerRequest) (*runtimeapi.StartContainerResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.containers[q.GetContainerId()]
	switch {
	case !ok:
		return nil, status.Errorf(codes.NotFound, "container %q: not found", q.GetContainerId())
	case c.state != runtimeapi.ContainerState_CONTAINER_CREATED:
		return nil, status.Errorf(codes.Unknown, "container %q is in state %s", c.id, c.state)
	case !r.sandboxes[c.sandbox].ready:
		return nil, status.Errorf(codes.Unknown, "sandbox %q is not running", c.sandbox)
	}
	if err := r.openLog(c); err != nil {
		return nil, status.Error(codes.Unknown, err.Error())
	}
	if message := c.process.StartError; message != "" {
		r.end(c, Exit{Code: 128, Reason: "StartError", Message: message})
		return nil, status.Error(codes.Unknown, message)
	}
	c.state, c.startedAt = runtimeapi.ContainerState_CONTAINER_RUNNING, now()
	r.emit(runtimeapi.ContainerEventType_CONTAINER_STARTED_EVENT, c.id, c.sandbox)
	r.run(c)
	return &runtimeapi.StartContainerResponse{}, nil
}

// openLog makes the file for the container's log, unless its sandbox has none.
func (r *Runtime) openLog(c *container) error {
	if r.sandboxes[c.sandbox].config.GetLogDirectory() == "" {
		return nil
	}
	f, err := os.OpenFile(r.logPath(c), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o640)
	if err != nil {
		return err
	}
	return f.Close()
}

func (r *Runtime) logPath(c *container) string {
	return filepath.Join(r.sandboxes[c.sandbox].config.GetLogDirectory(), c.config.GetLogPath())
}

// RemoveContainer kills and removes a container.
func (r *runtimeServer) RemoveContainer(_ context.Context, q *runtimeapi.RemoveContainerRequest) (*runtimeapi.RemoveContainerResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c, ok := r.containers[q.GetContainerId()]; ok {
		r.end(c, killed)
		r.remove(c)
	}
	return &runtimeapi.RemoveContainerResponse{}, nil
}

func (r *Runtime) remove(c *container) {
	delete(r.containers, c.id)
	r.emit(runtimeapi.ContainerEventType_CONTAINER_DELETED_EVENT, c.id, c.sandbox)
}

// ContainerStatus describes a container.
func (r *runtimeServer) ContainerStatus(_ context.Context, q *runtimeapi.ContainerStatusRequest) (*runtimeapi.ContainerStatusResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.containers[q.GetContainerId()]
	if !ok {
		return nil, status.Errorf(codes.NotFound, "container %q: not found", q.GetContainerId())
	}
	return &runtimeapi.ContainerStatusResponse{Status: &runtimeapi.ContainerStatus{
		Id: c.id, Metadata: c.config.GetMetadata(), State: c.state,
		CreatedAt: c.createdAt, StartedAt: c.startedAt, FinishedAt: c.finishedAt,
		ExitCode: c.exit.Code, Reason: c.exit.Reason, Message: c.exit.Message,
		Image: &runtimeapi.ImageSpec{Image: c.image.GetRepoTags()[0]}, ImageRef: c.image.GetId(), ImageId: c.image.GetId(),
		Labels: c.config.GetLabels(), Annotations: c.config.GetAnnotations(),
		Mounts: c.config.GetMounts(), LogPath: r.logPath(c),
		Resources: &runtimeapi.ContainerResources{Linux: c.config.GetLinux().GetResources()},
	}}, nil
}

// ListContainers lists containers, oldest first.
func (r *runtimeServer) ListContainers(_ context.Context, q *runtimeapi.ListContainersRequest) (*runtimeapi.ListContainersResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	reply := &runtimeapi.ListContainersResponse{}
	for _, c := range r.sortedContainers() {
		if !matches(c.config.GetLabels(), q.GetFilter().GetLabelSelector()) {
			continue
		}
		reply.Containers = append(reply.Containers, &runtimeapi.Container{
			Id: c.id, PodSandboxId: c.sandbox, Metadata: c.config.GetMetadata(), State: c.state, CreatedAt: c.createdAt,
			Image: c.config.GetImage(), ImageRef: c.image.GetId(), ImageId: c.image.GetId(),
			Labels: c.config.GetLabels(), Annotations: c.config.GetAnnotations(),
		})
	}
	return reply, nil
}
