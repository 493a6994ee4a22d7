// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
)

// Probes says what the probes of containers have found.
type Probes interface {
	// Result is ProbeUnknown for one that has said nothing.
	Result(containerID string, kind podtypes.ProbeKind) podtypes.ProbeResult
}

// probed says of a container that runs whether it has started and is ready.
func (c *container) probed(s *corev1.ContainerStatus) (started, ready bool) {
	if s.State.Running == nil {
		return false, false
	}
	started = c.spec.StartupProbe == nil || c.says(s, podtypes.Startup, c.previous.Started != nil && *c.previous.Started)
	ready = c.spec.ReadinessProbe == nil || c.says(s, podtypes.Readiness, c.previous.Ready)
	return started, started && ready
}

// says tells whether a probe is content. One that has said nothing since the agent's
// start says what it did before, if that was of the same instance.
func (c *container) says(s *corev1.ContainerStatus, kind podtypes.ProbeKind, before bool) bool {
	_, id, _ := strings.Cut(s.ContainerID, containerIDSchemeDivider)
	result := podtypes.ProbeUnknown
	if c.Probes != nil {
		result = c.Probes.Result(id, kind)
	}
	if result == podtypes.ProbeUnknown {
		return before && c.previous.ContainerID == s.ContainerID
	}
	return result == podtypes.ProbeSuccess
}

// probedAnew is the previous status but for what probes and readiness gates say now.
func (in *Input) probedAnew() corev1.PodStatus {
	status := *in.Previous.DeepCopy()
	in.probeAnew(initial, in.Pod.Spec.InitContainers, status.InitContainerStatuses)
	in.probeAnew(regular, in.Pod.Spec.Containers, status.ContainerStatuses)
	for _, c := range in.readiness(&status) {
		replaceCondition(&status, c)
	}
	settle(in.Previous, &status, stamp(in.Now))
	return status
}

func (in *Input) probeAnew(of kind, list []corev1.Container, statuses []corev1.ContainerStatus) {
	for i := range list {
		if s := statusOf(statuses, list[i].Name); s != nil {
			c := container{Input: in, spec: &list[i], kind: of, previous: *s}
			c.setProbed(s)
		}
	}
}

func replaceCondition(status *corev1.PodStatus, c corev1.PodCondition) {
	for i := range status.Conditions {
		if status.Conditions[i].Type == c.Type {
			status.Conditions[i] = c
			return
		}
	}
	status.Conditions = append(status.Conditions, c)
}
