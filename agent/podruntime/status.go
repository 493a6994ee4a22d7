// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/cri"
	"github.com/berth-run/berth/agent/podtypes"
)

// statusCalls of one pod are made at the same time.
const statusCalls = 4

// PodStatus reads what the runtime knows of a pod; of a pod that it does not know,
// a status without sandboxes and containers. Of a sandbox that is not ready, no
// more is known than the listing says.
func (r *Runtime) PodStatus(ctx context.Context, uid types.UID) (*podtypes.PodStatus, error) {
	status := &podtypes.PodStatus{UID: uid, At: time.Now()}
	sandboxes, containers, err := r.list(ctx, map[string]string{podUIDLabel: string(uid)})
	if err != nil {
		return nil, fmt.Errorf("pod %s: %w", uid, err)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(statusCalls)
	status.Sandboxes = make([]podtypes.SandboxStatus, len(sandboxes))
	for i, s := range sandboxes {
		status.Namespace, status.Name = s.GetLabels()[podNamespaceLabel], s.GetLabels()[podNameLabel]
		g.Go(func() error { return r.readSandbox(ctx, s, &status.Sandboxes[i]) })
	}
	status.Containers = make([]podtypes.ContainerStatus, len(containers))
	for i, c := range containers {
		status.Namespace, status.Name = c.GetLabels()[podNamespaceLabel], c.GetLabels()[podNameLabel]
		g.Go(func() error { return r.readContainer(ctx, c, &status.Containers[i]) })
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("pod %s: %w", uid, err)
	}
	status.Sandboxes = slices.DeleteFunc(status.Sandboxes, func(s podtypes.SandboxStatus) bool { return s.ID == "" })
	status.Containers = slices.DeleteFunc(status.Containers, func(c podtypes.ContainerStatus) bool { return c.ID == "" })
	slices.SortFunc(status.Sandboxes, func(a, b podtypes.SandboxStatus) int { return newerSandbox(a.Sandbox, b.Sandbox) })
	slices.SortFunc(status.Containers, func(a, b podtypes.ContainerStatus) int { return newerContainer(a.Container, b.Container) })
	return status, nil
}

// readSandbox fills into; one that went since the listing stays empty.
func (r *Runtime) readSandbox(ctx context.Context, s *runtimeapi.PodSandbox, into *podtypes.SandboxStatus) error {
	listed := toSandbox(s)
	if !listed.Ready {
		into.Sandbox = listed
		return nil
	}
	reply, err := r.cfg.CRI.Runtime.PodSandboxStatus(ctx, &runtimeapi.PodSandboxStatusRequest{PodSandboxId: listed.ID})
	switch {
	case cri.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("status of sandbox %s: %w", listed.ID, err)
	}
	st := reply.GetStatus()
	*into = podtypes.SandboxStatus{
		Sandbox:     listed,
		IPs:         sandboxIPs(st),
		HostNetwork: st.GetLinux().GetNamespaces().GetOptions().GetNetwork() == runtimeapi.NamespaceMode_NODE,
	}
	into.Ready = st.GetState() == runtimeapi.PodSandboxState_SANDBOX_READY
	if r.addresses.isLost(listed.ID) {
		into.IPs = nil
	}
	return nil
}

// readContainer fills into; one that went since the listing stays empty.
func (r *Runtime) readContainer(ctx context.Context, c *runtimeapi.Container, into *podtypes.ContainerStatus) error {
	reply, err := r.cfg.CRI.Runtime.ContainerStatus(ctx, &runtimeapi.ContainerStatusRequest{ContainerId: c.GetId()})
	switch {
	case cri.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("status of container %s: %w", c.GetId(), err)
	}
	*into = toContainerStatus(c, reply.GetStatus())
	return nil
}

// HasEnded asks the runtime whether a container that ran has ended; false if it does
// not tell.
func (r *Runtime) HasEnded(ctx context.Context, id string) bool {
	reply, err := r.cfg.CRI.Runtime.ContainerStatus(ctx, &runtimeapi.ContainerStatusRequest{ContainerId: id})
	return cri.IsNotFound(err) || err == nil && reply.GetStatus().GetState() == runtimeapi.ContainerState_CONTAINER_EXITED
}

func toContainerStatus(c *runtimeapi.Container, st *runtimeapi.ContainerStatus) podtypes.ContainerStatus {
	s := podtypes.ContainerStatus{
		Container:    toContainer(c),
		StartedAt:    toTime(st.GetStartedAt()),
		FinishedAt:   toTime(st.GetFinishedAt()),
		ExitCode:     st.GetExitCode(),
		Reason:       st.GetReason(),
		Message:      st.GetMessage(),
		Image:        imageName(c, st),
		ImageID:      st.GetImageRef(),
		Hash:         st.GetAnnotations()[hashAnnotation],
		RestartCount: restartCount(st),
		LogPath:      st.GetLogPath(),
		Resources:    readResources(st.GetResources()),
		StopSignal:   signalName(st.GetStopSignal()),

		RecursiveReadOnly: recursivelyReadOnly(st.GetMounts()),
	}
	s.State = toState(st.GetState())
	if brokenOff(st) {
		s.State = podtypes.ContainerCreated
	}
	if s.State == podtypes.ContainerExited {
		if message := terminationMessage(st); message != "" {
			s.Message = message
		}
	}
	return s
}

// imageName is what was asked for, where the runtime kept it: otherwise one of the
// names that the image has.
func imageName(c *runtimeapi.Container, st *runtimeapi.ContainerStatus) string {
	if asked := c.GetImage().GetUserSpecifiedImage(); asked != "" {
		return asked
	}
	return st.GetImage().GetImage()
}

func restartCount(st *runtimeapi.ContainerStatus) int32 {
	n, err := strconv.ParseInt(st.GetAnnotations()[restartCountAnnotation], 10, 32)
	if err != nil {
		return int32(st.GetMetadata().GetAttempt())
	}
	return int32(n)
}
