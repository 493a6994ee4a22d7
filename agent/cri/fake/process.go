// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package fake

import (
	"context"
	"time"

	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Exit is how a container ends.
type Exit struct {
	Code    int32
	Reason  string
	Message string
}

var killed = Exit{Code: 137, Reason: "Error"}

// Process is what a container does when it is started. The zero value runs until
// it is told to end, and then ends at once with code 0.
type Process struct {
	// ExitAfter, if Exits is set, is how long it runs on its own.
	ExitAfter time.Duration
	Exits     bool
	Exit      Exit
	// IgnoreTerm: it ends only when it is killed.
	IgnoreTerm bool
	// StartError, if set, is why it cannot be started.
	StartError string
}

// scripted is what the next containers of a name do; the last does for all others.
type scripted struct {
	next []Process
}

// Script says what the containers of that name do, one after the other as they are
// created; the last entry holds for all that follow.
func (r *Runtime) Script(container string, processes ...Process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.processes[container] = &scripted{next: processes}
}

func (r *Runtime) process(container string) Process {
	s, ok := r.processes[container]
	if !ok || len(s.next) == 0 {
		return Process{}
	}
	p := s.next[0]
	if len(s.next) > 1 {
		s.next = s.next[1:]
	}
	return p
}

// run lets the container live: it ends by itself if its script says so.
func (r *Runtime) run(c *container) {
	if !c.process.Exits {
		return
	}
	if c.process.ExitAfter == 0 {
		r.end(c, c.process.Exit)
		return
	}
	time.AfterFunc(c.process.ExitAfter, func() { r.Exit(c.id, c.process.Exit) })
}

// Exit ends a container that runs.
func (r *Runtime) Exit(containerID string, exit Exit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c, ok := r.containers[containerID]; ok && c.state == runtimeapi.ContainerState_CONTAINER_RUNNING {
		r.end(c, exit)
	}
}

// Lose removes a container behind the client's back.
func (r *Runtime) Lose(containerID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c, ok := r.containers[containerID]; ok {
		r.end(c, killed)
		delete(r.containers, c.id)
	}
}

// end makes the container exited. The caller holds the lock.
func (r *Runtime) end(c *container, exit Exit) {
	if c.state == runtimeapi.ContainerState_CONTAINER_EXITED {
		return
	}
	if exit.Reason == "" {
		exit.Reason = "Completed"
		if exit.Code != 0 {
			exit.Reason = "Error"
		}
	}
	c.state, c.exit, c.finishedAt = runtimeapi.ContainerState_CONTAINER_EXITED, exit, now()
	close(c.ended)
	r.emit(runtimeapi.ContainerEventType_CONTAINER_STOPPED_EVENT, c.id, c.sandbox)
}

// StopContainer asks the container to end and kills it after the timeout.
func (r *runtimeServer) StopContainer(ctx context.Context, q *runtimeapi.StopContainerRequest) (*runtimeapi.StopContainerResponse, error) {
	ended := r.terminate(q.GetContainerId(), q.GetTimeout() > 0)
	if ended == nil {
		return &runtimeapi.StopContainerResponse{}, nil
	}
	grace := time.NewTimer(time.Duration(q.GetTimeout()) * time.Second)
	defer grace.Stop()
	select {
	case <-ended:
	case <-grace.C:
		r.Exit(q.GetContainerId(), killed)
	case <-ctx.Done():
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	return &runtimeapi.StopContainerResponse{}, nil
}

// terminate sends SIGTERM or, without grace, SIGKILL, and returns what is closed
// when the container has ended; nil if it does not run.
func (r *Runtime) terminate(id string, gracefully bool) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.containers[id]
	if !ok || c.state != runtimeapi.ContainerState_CONTAINER_RUNNING {
		return nil
	}
	switch {
	case !gracefully:
		r.end(c, killed)
	case !c.process.IgnoreTerm:
		r.end(c, Exit{})
	}
	return c.ended
}
