// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/agent/cri"
	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/internal/sleep"
)

// KillPod stops all containers in their order, each within what is left of the grace
// period when its turn comes, and then the sandboxes.
// pod is nil for an orphan, of which no user is told. What the runtime does not have
// (any more) counts as stopped. A container that could not be stopped keeps its
// sandbox, which would end it without grace: call again.
func (r *Runtime) KillPod(ctx context.Context, pod *corev1.Pod, podStatus *podtypes.PodStatus, grace time.Duration) error {
	if podStatus == nil {
		return nil
	}
	if err := r.stopOf(pod, podStatus, grace).inOrder(ctx, terminationOrder(pod, runningContainers(podStatus))); err != nil {
		return err
	}
	return inParallel(podStatus.Sandboxes, func(s *podtypes.SandboxStatus) error {
		return r.stopSandbox(ctx, s.ID)
	})
}

func runningContainers(status *podtypes.PodStatus) []containerToKill {
	var all []containerToKill
	for i := range status.Containers {
		if c := &status.Containers[i]; mayRun(c) {
			all = append(all, containerToKill{ID: c.ID, Name: c.Name, Message: "Stopping container " + c.Name})
		}
	}
	return all
}

// minStop is what a container gets at least between its stop signal and its end, also
// when its hook or its turn have taken all of a grace period that is no shorter.
const minStop = 2 * time.Second

// podStop stops containers of one pod.
type podStop struct {
	*Runtime
	// pod is nil for an orphan.
	pod    *corev1.Pod
	podIPs []string
	grace  time.Duration
}

func (r *Runtime) stopOf(pod *corev1.Pod, status *podtypes.PodStatus, grace time.Duration) *podStop {
	p := &podStop{Runtime: r, pod: pod, grace: grace}
	if pod != nil && status.Current() != nil {
		p.podIPs = r.podIPs(pod, status.Current().IPs)
	}
	return p
}

// containers stops them, all at the same time, when their turn has come; without a turn
// they do not wait.
func (p *podStop) containers(ctx context.Context, kill []containerToKill, turn <-chan struct{}) error {
	return inParallel(kill, func(k *containerToKill) error {
		if err := p.container(ctx, k, turn); err != nil {
			return fmt.Errorf("stopping container %s (%s): %w", k.Name, k.ID, err)
		}
		return nil
	})
}

// container runs the preStop hook of a container, waits for its turn and stops it, all
// within its grace.
func (p *podStop) container(ctx context.Context, k *containerToKill, turn <-chan struct{}) error {
	grace := ptr.Deref(k.Grace, p.grace)
	deadline := time.Now().Add(grace)
	if p.pod != nil {
		p.recorder.Record(p.pod, fieldPath(p.pod, k.Name), corev1.EventTypeNormal, "Killing", k.Message)
		p.preStop(ctx, k, grace, deadline)
	}
	await(ctx, turn, deadline)
	return p.stopContainer(ctx, k.ID, max(time.Until(deadline), min(grace, minStop)))
}

func (r *Runtime) stopContainer(ctx context.Context, id string, grace time.Duration) error {
	request := &runtimeapi.StopContainerRequest{ContainerId: id, Timeout: wholeSeconds(grace)}
	err := r.inEndSlot(ctx, promptEnd, func() error {
		_, err := r.cfg.CRI.Runtime.StopContainer(ctx, request)
		return err
	})
	if cri.IsNotFound(err) {
		return nil
	}
	return err
}

// wholeSeconds rounds up: no process gets less than was promised. Nothing, or what
// has passed already, is 0: kill at once.
func wholeSeconds(d time.Duration) int64 {
	return int64(max(0, math.Ceil(d.Seconds())))
}

// secondStop is how long after a stop that failed it is tried again.
const secondStop = 200 * time.Millisecond

// stopSandbox stops a sandbox. When someone else stops it at the same time each takes
// the network away under the other, and one of the two fails; a moment later there is
// nothing left to fail at.
func (r *Runtime) stopSandbox(ctx context.Context, id string) error {
	stop := func() error {
		return r.inEndSlot(ctx, workingCall, func() error {
			_, err := r.cfg.CRI.Runtime.StopPodSandbox(ctx, &runtimeapi.StopPodSandboxRequest{PodSandboxId: id})
			return err
		})
	}
	err := stop()
	if status.Code(err) == codes.Unknown && sleep.For(ctx, secondStop) == nil {
		err = stop()
	}
	if err != nil && !cri.IsNotFound(err) {
		return fmt.Errorf("stopping sandbox %s: %w", id, err)
	}
	return nil
}

// inParallel calls f for each element and returns when all calls have, with all
// their errors. A single element costs no goroutine.
func inParallel[T any](all []T, f func(*T) error) error {
	if len(all) == 1 {
		return f(&all[0])
	}
	var calls sync.WaitGroup
	errs := make([]error, len(all))
	for i := range all {
		calls.Go(func() { errs[i] = f(&all[i]) })
	}
	calls.Wait()
	return errors.Join(errs...)
}
