// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package fake

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Command is what a command does that is run in a container. The zero value succeeds
// at once.
type Command struct {
	Takes  time.Duration
	Exit   int32
	Stdout string
}

// ScriptExec says what all commands do that are run in the containers of that name.
func (r *Runtime) ScriptExec(container string, command Command) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.commands[container] = command
}

// ExecSync runs a command in a container, and breaks it off with the caller's context.
func (r *runtimeServer) ExecSync(ctx context.Context, q *runtimeapi.ExecSyncRequest) (*runtimeapi.ExecSyncResponse, error) {
	command, err := r.command(q.GetContainerId())
	if err != nil {
		return nil, err
	}
	select {
	case <-time.After(command.Takes):
	case <-ctx.Done():
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	return &runtimeapi.ExecSyncResponse{ExitCode: command.Exit, Stdout: []byte(command.Stdout)}, nil
}

func (r *Runtime) command(containerID string) (Command, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.containers[containerID]
	switch {
	case !ok:
		return Command{}, status.Errorf(codes.NotFound, "container %s not found", containerID)
	case c.state != runtimeapi.ContainerState_CONTAINER_RUNNING:
		return Command{}, status.Errorf(codes.Unknown, "container is in %s state", c.state)
	}
	return r.commands[c.config.GetMetadata().GetName()], nil
}
