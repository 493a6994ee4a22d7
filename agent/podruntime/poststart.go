// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"context"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/api"
)

// postStart runs the hook of a container that was just started, and gives the pod's
// place among those that are starting to another meanwhile. A container whose hook
// failed is stopped.
func (s *podSync) postStart(ctx context.Context, c hooked, slot *startSlot) error {
	if c.spec.Lifecycle == nil || c.spec.Lifecycle.PostStart == nil {
		return nil
	}
	starts := slot.release()
	err := s.runHook(ctx, c, c.spec.Lifecycle.PostStart)
	if err != nil && ctx.Err() == nil && !isOutcomeUnknown(err) {
		err = s.postStartFailed(ctx, c, err)
	}
	if slotErr := slot.take(ctx, starts); slotErr != nil {
		return slotErr
	}
	return err
}

// isOutcomeUnknown: a runtime that went away took the hook's answer with it. That is no
// failure of the container, which runs on, as it does when the agent goes away.
func isOutcomeUnknown(err error) bool { return status.Code(err) == codes.Unavailable }

func (s *podSync) postStartFailed(ctx context.Context, c hooked, err error) error {
	message := fmt.Sprintf("The postStart hook of container %s failed: %v", c.spec.Name, err)
	s.event(c.spec, corev1.EventTypeWarning, "FailedPostStartHook", message)
	kill := []containerToKill{{ID: c.id, Name: c.spec.Name, Message: fmt.Sprintf("Container %s failed its postStart hook, it will be stopped", c.spec.Name)}}
	stop := podStop{Runtime: s.Runtime, pod: s.pod, podIPs: c.podIPs, grace: api.GracePeriod(s.pod)}
	if stopErr := stop.containers(ctx, kill, nil); stopErr != nil {
		err = stopErr
	}
	return &startError{reason: "PostStartHookError", message: message, err: err}
}
