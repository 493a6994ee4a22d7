// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/cri"
	"github.com/berth-run/berth/agent/podtypes"
)

// RemovePod removes all that the runtime has of a pod, which KillPod has stopped,
// and its logs: containers first, then sandboxes, with which goes what is left of
// the pod's network. What is not there counts as removed.
func (r *Runtime) RemovePod(ctx context.Context, uid types.UID) error {
	sandboxes, containers, err := r.list(ctx, map[string]string{podUIDLabel: string(uid)})
	if err != nil {
		return err
	}
	err = inParallel(containers, func(c **runtimeapi.Container) error {
		return r.removeContainer(ctx, (*c).GetId())
	})
	if err != nil {
		return err
	}
	err = inParallel(sandboxes, func(s **runtimeapi.PodSandbox) error {
		return r.removeSandbox(ctx, (*s).GetId())
	})
	if err != nil {
		return err
	}
	r.crashes.forget(uid)
	return r.removeLogs(func(of types.UID) bool { return of == uid })
}

// CleanUpContainers removes the dead containers of a pod but the last of each
// name, with their logs, and then the sandboxes that none is left in. It may run
// while the pod is synced: it touches nothing that a sync could be working on.
func (r *Runtime) CleanUpContainers(ctx context.Context, pod *corev1.Pod, podStatus *podtypes.PodStatus) error {
	containers, sandboxes := garbage(podStatus)
	err := inParallel(containers, func(c **podtypes.ContainerStatus) error {
		if err := r.removeContainer(ctx, (*c).ID); err != nil {
			return err
		}
		return removeLog((*c).LogPath)
	})
	if err != nil {
		return fmt.Errorf("pod %s: %w", pod.UID, err)
	}
	return inParallel(sandboxes, func(id *string) error { return r.removeSandbox(ctx, *id) })
}

// garbage lists the containers that are of no use any more, and the former
// sandboxes that would be left empty without them. One that never ran is left to
// the sync that makes it anew: it gives the number, and with it the log, again.
func garbage(status *podtypes.PodStatus) (containers []*podtypes.ContainerStatus, sandboxes []string) {
	current := status.Current()
	if current == nil {
		return nil, nil
	}
	occupied := map[string]bool{current.ID: true}
	kept := map[string]bool{}
	for i := range status.Containers {
		c := &status.Containers[i]
		dead := c.State == podtypes.ContainerExited
		if dead && kept[c.Name] {
			containers = append(containers, c)
			continue
		}
		occupied[c.SandboxID] = true
		kept[c.Name] = kept[c.Name] || dead
	}
	for i := range status.Sandboxes {
		if s := &status.Sandboxes[i]; !s.Ready && !occupied[s.ID] {
			sandboxes = append(sandboxes, s.ID)
		}
	}
	return containers, sandboxes
}

// removeLog removes a container's log and what it was rotated to.
func removeLog(path string) error {
	if path == "" {
		return nil
	}
	rotated, err := filepath.Glob(path + ".*")
	if err != nil {
		return fmt.Errorf("log %s: %w", path, err)
	}
	var errs []error
	for _, file := range append(rotated, path) {
		if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (r *Runtime) removeContainer(ctx context.Context, id string) error {
	request := &runtimeapi.RemoveContainerRequest{ContainerId: id}
	err := r.inEndSlot(ctx, workingCall, func() error {
		_, err := r.cfg.CRI.Runtime.RemoveContainer(ctx, request)
		if status.Code(err) == codes.FailedPrecondition && r.cfg.CRI.DeleteTask(ctx, id) == nil {
			_, err = r.cfg.CRI.Runtime.RemoveContainer(ctx, request)
		}
		return err
	})
	if err != nil && !cri.IsNotFound(err) {
		return fmt.Errorf("removing container %s: %w", id, err)
	}
	return nil
}

func (r *Runtime) removeSandbox(ctx context.Context, id string) error {
	err := r.inEndSlot(ctx, workingCall, func() error {
		_, err := r.cfg.CRI.Runtime.RemovePodSandbox(ctx, &runtimeapi.RemovePodSandboxRequest{PodSandboxId: id})
		return err
	})
	if err != nil && !cri.IsNotFound(err) {
		return fmt.Errorf("removing sandbox %s: %w", id, err)
	}
	return nil
}
