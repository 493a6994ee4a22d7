// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/podtypes"
)

// WatchEvents calls fn with what the runtime says of each of the node's pods, until
// the stream breaks or the context ends, and returns why. fn must not block: a
// runtime may hold up all its work behind a slow reader. An event is a hint to look
// again and no more; some are lost.
func (r *Runtime) WatchEvents(ctx context.Context, fn func(podtypes.Hint)) error {
	stream, err := r.cfg.CRI.Runtime.GetContainerEvents(ctx, &runtimeapi.GetEventsRequest{})
	if err != nil {
		return fmt.Errorf("container events: %w", err)
	}
	for {
		event, err := stream.Recv()
		if err != nil {
			return fmt.Errorf("container events: %w", err)
		}
		labels := event.GetPodSandboxStatus().GetLabels()
		if labels[nodeLabel] == r.cfg.NodeID {
			fn(toHint(event, types.UID(labels[podUIDLabel])))
		}
	}
}

func toHint(event *runtimeapi.ContainerEventResponse, uid types.UID) podtypes.Hint {
	h := podtypes.Hint{UID: uid, ID: event.GetContainerId(), State: podtypes.ContainerUnknown}
	switch event.GetContainerEventType() {
	case runtimeapi.ContainerEventType_CONTAINER_CREATED_EVENT:
		h.State = podtypes.ContainerCreated
	case runtimeapi.ContainerEventType_CONTAINER_STARTED_EVENT:
		h.State = podtypes.ContainerRunning
	case runtimeapi.ContainerEventType_CONTAINER_STOPPED_EVENT:
		h.State = podtypes.ContainerExited
	case runtimeapi.ContainerEventType_CONTAINER_DELETED_EVENT:
		h.Removed = true
	}
	return h
}
