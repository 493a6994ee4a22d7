// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// WatchEvents calls fn with the UID of each of the node's pods of which the runtime
// has news, until the stream breaks or the context ends, and returns why. fn must
// not block: a runtime may hold up all its work behind a slow reader. An event is a
// hint to look again and no more; some are lost.
func (r *Runtime) WatchEvents(ctx context.Context, fn func(types.UID)) error {
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
			fn(types.UID(labels[podUIDLabel]))
		}
	}
}
