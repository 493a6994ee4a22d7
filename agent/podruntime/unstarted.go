// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"context"
	"strings"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/podtypes"
)

// A container that never ran is no run of it: an agent that died, or a call that
// failed, between its making and its start. It is made anew under the same number,
// so that it counts as no restart and its log is the one that users look for.

// brokenOff tells whether the call that started a container ended with its client,
// before there was a process. containerd shows such a container as ended, with an
// exit code of its own.
func brokenOff(st *runtimeapi.ContainerStatus) bool {
	message := st.GetMessage()
	return st.GetStartedAt() == 0 && st.GetReason() == "StartError" &&
		strings.HasPrefix(message, "failed to create containerd task: ") &&
		(strings.HasSuffix(message, context.Canceled.Error()) || strings.HasSuffix(message, context.DeadlineExceeded.Error()))
}

// neverRan tells whether there never was a process of a container. A start that
// failed because its sandbox was ending under it counts as none.
func (s *podSync) neverRan(c *podtypes.ContainerStatus) bool {
	return c.State == podtypes.ContainerCreated ||
		c.StartedAt.IsZero() && s.crashes.isExcused(crashKey{s.pod.UID, c.Name}, c.ID)
}

// removeUnstarted removes the containers of that name that never ran, in whatever
// sandbox they are, with the logs that they have not written to: both hold the
// number that is to be given again.
func (s *podSync) removeUnstarted(ctx context.Context, name string) error {
	if s.status == nil {
		return nil
	}
	for i := range s.status.Containers {
		c := &s.status.Containers[i]
		if c.Name != name || !s.neverRan(c) {
			continue
		}
		if err := s.removeContainer(ctx, c.ID); err != nil {
			return err
		}
		if err := removeLog(c.LogPath); err != nil {
			return err
		}
	}
	return nil
}
