// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/cri"
	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/agent/resize"
)

// resize changes the resources of running containers. What fails keeps nothing else of
// the pod from going on, and is tried again with its next sync.
func (s *podSync) resize(ctx context.Context, changes []resize.Change) {
	if len(changes) == 0 {
		return
	}
	err := s.checkMemory(ctx, changes)
	if err == nil {
		s.result.Changed = true
		err = inParallel(changes, func(c *resize.Change) error { return s.resizeContainer(ctx, c) })
	}
	if err == nil || ctx.Err() != nil {
		return
	}
	s.result.ResizeError = err.Error()
	s.errs = append(s.errs, err)
	s.recorder.Record(s.pod, "", corev1.EventTypeWarning, "ResizeError", resize.Message("error", s.pod, err.Error()))
}

func (s *podSync) resizeContainer(ctx context.Context, c *resize.Change) error {
	_, err := s.cfg.CRI.Runtime.UpdateContainerResources(ctx, &runtimeapi.UpdateContainerResourcesRequest{
		ContainerId: c.Container.ID, Linux: toRuntimeResources(unbounded(c)),
	})
	if err == nil || cri.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("resizing container %s: %w", c.Spec.Name, plain(err))
}

// unbounded says of a limit that goes that there is none: 0 would leave it.
func unbounded(c *resize.Change) podtypes.ContainerResources {
	want := c.Want
	if want.CPUQuota == 0 && c.Container.Resources.CPUQuota != 0 {
		want.CPUQuota = -1
	}
	if want.MemoryLimit == 0 && c.Container.Resources.MemoryLimit != 0 {
		want.MemoryLimit = -1
	}
	return want
}

// checkMemory refuses limits below what is in use: the kernel would end the container's
// processes for them, or refuse them itself.
func (s *podSync) checkMemory(ctx context.Context, changes []resize.Change) error {
	var errs []error
	for i := range changes {
		c := &changes[i]
		if !shrinksMemory(c) {
			continue
		}
		used, err := s.memoryUsage(ctx, c.Container.ID)
		switch {
		case err != nil:
			errs = append(errs, err)
		case used >= c.Want.MemoryLimit:
			errs = append(errs, fmt.Errorf("attempting to set container %q memory limit (%d) below current usage (%d)",
				c.Spec.Name, c.Want.MemoryLimit, used))
		}
	}
	if len(errs) > 0 {
		return fmt.Errorf("cannot decrease memory limits: %w", errors.Join(errs...))
	}
	return nil
}

func shrinksMemory(c *resize.Change) bool {
	have, want := c.Container.Resources.MemoryLimit, c.Want.MemoryLimit
	return want > 0 && (have <= 0 || want < have)
}

func (s *podSync) memoryUsage(ctx context.Context, id string) (int64, error) {
	reply, err := s.cfg.CRI.Runtime.ContainerStats(ctx, &runtimeapi.ContainerStatsRequest{ContainerId: id})
	if cri.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("memory in use by container %s: %w", id, plain(err))
	}
	return int64(reply.GetStats().GetMemory().GetUsageBytes().GetValue()), nil
}
