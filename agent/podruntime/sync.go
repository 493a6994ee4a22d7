// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/api"
)

// SyncPod brings the pod one step nearer to its spec: at most it stops what must
// not run, makes the sandbox and starts the containers whose turn it is. status is
// what the runtime said of the pod after its last sync. When the context ends, so
// do the sync and the pulls that it waits for.
func (r *Runtime) SyncPod(ctx context.Context, pod *corev1.Pod, status *podtypes.PodStatus, pullSecrets []corev1.Secret) podtypes.SyncResult {
	s := &podSync{Runtime: r, pod: pod, status: status, probes: r.probeResults(status), pullSecrets: pullSecrets}
	if err := s.run(ctx); err != nil {
		s.errs = append(s.errs, err)
	}
	s.result.Err = errors.Join(s.errs...)
	return s.result
}

// podSync is one sync of one pod.
type podSync struct {
	*Runtime
	pod         *corev1.Pod
	status      *podtypes.PodStatus
	probes      probeResults
	pullSecrets []corev1.Secret

	result podtypes.SyncResult
	errs   []error
}

// podSandbox is where the pod's containers are started.
type podSandbox struct {
	id     string
	config *runtimeapi.PodSandboxConfig
	ips    []string
}

// run returns what keeps the whole pod from going on; what fails of single
// containers is noted with them.
func (s *podSync) run(ctx context.Context) error {
	a := computePodActions(s.pod, s.status, s.probes)
	s.log.Debug("syncing pod", "pod", api.FullName(s.pod), "uid", s.pod.UID, "killPod", a.KillPod,
		"createSandbox", a.CreateSandbox, "kill", len(a.Kill), "start", len(a.Start))
	if err := s.stop(ctx, a); err != nil {
		return err
	}
	s.resize(ctx, a.Resize)
	due, ephemeral := s.due(a.Start, a.SandboxID), s.due(a.Ephemeral, a.SandboxID)
	if len(due)+len(ephemeral) == 0 {
		return nil
	}
	pulls := s.ensureImages(ctx, slices.Concat(due, ephemeral))
	defer pulls.end()

	var slot startSlot
	if err := slot.take(ctx, s.starts); err != nil {
		return err
	}
	defer slot.release()
	sandbox, err := s.sandbox(ctx, a)
	if err != nil {
		return err
	}
	if err := s.startAll(ctx, sandbox, due, pulls, &slot); err != nil {
		return err
	}
	return s.startAll(ctx, sandbox, ephemeral, pulls[len(due):], &slot)
}

// startAll starts the containers, one after the other.
func (s *podSync) startAll(ctx context.Context, sandbox *podSandbox, all []containerToStart, pulls imageWaits, slot *startSlot) error {
	for i, c := range all {
		err := s.startContainer(ctx, sandbox, c.Container, pulls[i], slot)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s.note(c.Container, err)
		if err != nil && c.First {
			return nil
		}
	}
	return nil
}

// stop ends what the actions say must not run.
func (s *podSync) stop(ctx context.Context, a podActions) error {
	if !a.KillPod && len(a.Kill) == 0 {
		return nil
	}
	s.result.Changed = true
	if a.KillPod {
		if a.CreateSandbox {
			s.recorder.Record(s.pod, "", corev1.EventTypeNormal, "SandboxChanged",
				"The pod's sandbox cannot be used any more; it will be stopped and made anew")
		}
		return s.KillPod(ctx, s.pod, s.status, api.GracePeriod(s.pod))
	}
	return s.stopOf(s.pod, s.status, api.GracePeriod(s.pod)).containers(ctx, a.Kill, nil)
}

// due drops the containers that a crash back-off holds, and those that wait for such a
// one, and notes the former.
func (s *podSync) due(start []containerToStart, sandboxID string) []containerToStart {
	var due []containerToStart
	for _, c := range start {
		wait := s.crashWait(c.Container, sandboxID)
		if wait == 0 {
			due = append(due, c)
			continue
		}
		s.note(c.Container, s.crashLoop(c.Container, wait))
		if c.First {
			break
		}
	}
	return due
}

// crashWait returns how long the container has to wait for its start in that
// sandbox, which is empty for one that is still to be made.
func (s *podSync) crashWait(c *corev1.Container, sandboxID string) time.Duration {
	dead := s.status.Latest(c.Name)
	if dead == nil || !s.hasEnded(dead) {
		return 0
	}
	key := crashKey{s.pod.UID, c.Name}
	if dead.SandboxID != sandboxID && s.crashes.endedWithSandbox(key, identity(c), dead.ID) {
		return 0
	}
	return s.crashes.wait(key, identity(c), dead.ID)
}

// hasEnded tells whether a container ended by itself, or was stopped because a probe
// of it had failed, which counts as a crash.
func (s *podSync) hasEnded(c *podtypes.ContainerStatus) bool {
	return c.State == podtypes.ContainerExited || s.probes.unhealthy(c.ID)
}

// crashLoop tells users of a restart that waits. Only the container's state has the
// delay: an event says the same each time, so that it is counted.
func (s *podSync) crashLoop(c *corev1.Container, wait time.Duration) error {
	s.event(c, corev1.EventTypeWarning, "BackOff", fmt.Sprintf("Back-off restarting failed container %s in pod %s_%s(%s)",
		c.Name, s.pod.Name, s.pod.Namespace, s.pod.UID))
	message := fmt.Sprintf("back-off %s restarting failed container=%s pod=%s uid=%s",
		s.crashes.delay(crashKey{s.pod.UID, c.Name}, identity(c)), c.Name, api.FullName(s.pod), s.pod.UID)
	return &startError{reason: "CrashLoopBackOff", message: message, retryAfter: wait}
}

// sandbox returns the sandbox to start containers in, and makes it if need be.
func (s *podSync) sandbox(ctx context.Context, a podActions) (*podSandbox, error) {
	if !a.CreateSandbox {
		current := s.status.Current()
		config, _, err := s.sandboxConfig(s.pod, current.Attempt)
		return &podSandbox{id: current.ID, config: config, ips: s.podIPs(s.pod, current.IPs)}, err
	}
	s.result.Changed = true
	sandbox, err := s.createSandbox(ctx, a.Attempt)
	if err != nil && ctx.Err() == nil {
		s.recorder.Record(s.pod, "", corev1.EventTypeWarning, "FailedCreatePodSandBox", err.Error())
	}
	return sandbox, err
}

// podIPs are what the pod's containers are told: in the host's network, the node's.
func (r *Runtime) podIPs(pod *corev1.Pod, sandboxIPs []string) []string {
	if pod.Spec.HostNetwork {
		return r.cfg.HostIPs
	}
	return sandboxIPs
}
