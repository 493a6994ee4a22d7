// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"context"
	"fmt"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/internal/diskusage"
)

// ContainerStorage returns what each container of the pod takes on the node's disk:
// its writable layer, as the runtime last measured it, and its logs, in bytes.
func (r *Runtime) ContainerStorage(ctx context.Context, pod *corev1.Pod) (map[string]int64, error) {
	reply, err := r.cfg.CRI.Runtime.ListContainerStats(ctx, &runtimeapi.ListContainerStatsRequest{
		Filter: &runtimeapi.ContainerStatsFilter{LabelSelector: map[string]string{nodeLabel: r.cfg.NodeID, podUIDLabel: string(pod.UID)}},
	})
	if err != nil {
		return nil, fmt.Errorf("pod %s: storage of the containers: %w", api.FullName(pod), err)
	}
	used := map[string]int64{}
	for _, s := range reply.GetStats() {
		name := s.GetAttributes().GetMetadata().GetName()
		logs, err := diskusage.Of(ctx, filepath.Join(r.podLogDir(pod), name))
		if err != nil {
			return nil, fmt.Errorf("pod %s: logs of container %s: %w", api.FullName(pod), name, err)
		}
		used[name] = logs + int64(s.GetWritableLayer().GetUsedBytes().GetValue())
	}
	return used, nil
}
