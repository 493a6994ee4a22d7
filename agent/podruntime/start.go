// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// startContainer makes and starts a container in the pod's sandbox. What its
// configuration lacks is found before its image is waited for.
func (s *podSync) startContainer(ctx context.Context, sandbox *podSandbox, c *corev1.Container, image *imageWait, slot *startSlot) error {
	if err := s.removeUnstarted(ctx, c.Name); err != nil {
		return s.failed(ctx, c, "CreateContainerError", err)
	}
	attempt, err := s.nextAttempt(sandbox, c)
	if err != nil {
		return s.failed(ctx, c, "CreateContainerError", err)
	}
	e := ephemeral(s.pod, c.Name)
	if e != nil && attempt > 0 {
		return nil // its log says that it has run, which it does once
	}
	config, err := s.containerConfig(s.pod, c, attempt, sandbox.ips)
	if err == nil && e != nil {
		err = s.joinTarget(sandbox, e, config)
	}
	if err != nil {
		return s.failed(ctx, c, "CreateContainerConfigError", err)
	}
	id, err := image.wait(ctx, slot)
	if err != nil {
		return err
	}
	config.Image = &runtimeapi.ImageSpec{Image: id, UserSpecifiedImage: c.Image}
	if err := settleImageMounts(ctx, config.Mounts, image.volumes, slot); err != nil {
		return err
	}
	if err := s.settleUser(ctx, c, config); err != nil {
		return s.failed(ctx, c, "CreateContainerConfigError", err)
	}
	id, err = s.createAndStart(ctx, sandbox, c, config)
	if err != nil {
		return err
	}
	return s.postStart(ctx, hooked{id: id, spec: c, podIPs: sandbox.ips}, slot)
}

func (s *podSync) createAndStart(ctx context.Context, sandbox *podSandbox, c *corev1.Container, config *runtimeapi.ContainerConfig) (id string, err error) {
	s.result.Changed = true
	created, err := s.cfg.CRI.Runtime.CreateContainer(ctx, &runtimeapi.CreateContainerRequest{
		PodSandboxId: sandbox.id, Config: config, SandboxConfig: sandbox.config,
	})
	if err != nil {
		return "", s.failed(ctx, c, "CreateContainerError", plain(err))
	}
	s.event(c, corev1.EventTypeNormal, "Created", "Created container "+c.Name)
	s.noteRestart(sandbox, c)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	// Once begun a start runs to its end, which is near: one that is broken off can
	// leave a process behind in a container that the runtime takes for ended.
	_, err = s.cfg.CRI.Runtime.StartContainer(context.WithoutCancel(ctx), &runtimeapi.StartContainerRequest{ContainerId: created.GetContainerId()})
	if err != nil {
		return "", s.failed(ctx, c, "RunContainerError", plain(err))
	}
	s.event(c, corev1.EventTypeNormal, "Started", "Started container "+c.Name)
	return created.GetContainerId(), nil
}

// noteRestart tells the crash back-off of a container that takes another's place.
func (s *podSync) noteRestart(sandbox *podSandbox, c *corev1.Container) {
	before := s.status.Latest(c.Name)
	if before == nil {
		return
	}
	key := crashKey{s.pod.UID, c.Name}
	if s.hasEnded(before) {
		s.crashes.restarted(key, identity(c), before.ID)
	}
	if before.SandboxID != sandbox.id {
		s.crashes.moved(key, identity(c))
	}
}

// failed tells users of a container that could not be started. A sync that was
// called off has not failed.
func (s *podSync) failed(ctx context.Context, c *corev1.Container, reason string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.event(c, corev1.EventTypeWarning, "Failed", err.Error())
	return &startError{reason: reason, message: err.Error(), err: err}
}

func (s *podSync) event(c *corev1.Container, eventType, reason, message string) {
	s.recorder.Record(s.pod, fieldPath(s.pod, c.Name), eventType, reason, message)
}

// nextAttempt numbers the container, from 0, one above all that ran before it: those
// that the runtime knows, and those whose logs are all that is left. The number is
// its restart count and names its log, so neither a count falls nor a log is mixed.
func (s *podSync) nextAttempt(sandbox *podSandbox, c *corev1.Container) (uint32, error) {
	next, err := nextLog(filepath.Join(sandbox.config.LogDirectory, c.Name))
	if err != nil || s.status == nil {
		return next, err
	}
	for i := range s.status.Containers {
		before := &s.status.Containers[i]
		if before.Name == c.Name && !s.neverRan(before) {
			next = max(next, uint32(before.RestartCount)+1)
		}
	}
	return next, nil
}

// nextLog makes a container's log directory and returns the number above all logs
// in it.
func nextLog(dir string) (uint32, error) {
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return 0, fmt.Errorf("log directory of the container: %w", err)
	}
	var next uint32
	for _, e := range entries {
		number, _, _ := strings.Cut(e.Name(), ".log")
		if n, err := strconv.ParseUint(number, 10, 31); err == nil {
			next = max(next, uint32(n)+1)
		}
	}
	return next, nil
}
