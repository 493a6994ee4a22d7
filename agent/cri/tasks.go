// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cri

import (
	"context"
	"fmt"

	"github.com/containerd/containerd/api/services/tasks/v1"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// In containerd, CRI's containers are those of one namespace.
const (
	namespaceHeader = "containerd-namespace"
	criNamespace    = "k8s.io"
)

// DeleteTask kills and deletes the process that containerd holds for a container.
//
// It is for a container that cannot be removed: when the client of StartContainer
// goes away at the wrong moment, containerd takes the container for ended and
// keeps its half-made process for good, and CRI has no call that ends it. Another
// runtime answers Unimplemented.
func (c *Client) DeleteTask(ctx context.Context, containerID string) error {
	ctx = metadata.AppendToOutgoingContext(ctx, namespaceHeader, criNamespace)
	client := tasks.NewTasksClient(c.conn)
	_, err := client.Kill(ctx, &tasks.KillRequest{ContainerID: containerID, Signal: uint32(unix.SIGKILL), All: true})
	if err != nil && status.Code(err) != codes.NotFound {
		return fmt.Errorf("killing the process of container %s: %w", containerID, err)
	}
	_, err = client.Wait(ctx, &tasks.WaitRequest{ContainerID: containerID})
	if err != nil && status.Code(err) != codes.NotFound {
		return fmt.Errorf("waiting for the process of container %s: %w", containerID, err)
	}
	_, err = client.Delete(ctx, &tasks.DeleteTaskRequest{ContainerID: containerID})
	if err != nil && status.Code(err) != codes.NotFound {
		return fmt.Errorf("deleting the process of container %s: %w", containerID, err)
	}
	return nil
}
