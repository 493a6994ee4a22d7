// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package prober

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
)

// instance is one container of the runtime, with what its probes have said.
type instance struct {
	id      string
	results map[podtypes.ProbeKind]podtypes.ProbeResult
	workers map[podtypes.ProbeKind]*worker
	// started is closed once the container is past its startup probe: only then the
	// others begin.
	started chan struct{}
	// ending is whether its pod is.
	ending bool
}

// newInstance returns one that has said nothing, or, if it has started already by the
// pod's status, that.
func newInstance(pod *corev1.Pod, c *corev1.Container, id string) *instance {
	i := &instance{
		id:      id,
		results: map[podtypes.ProbeKind]podtypes.ProbeResult{},
		workers: map[podtypes.ProbeKind]*worker{},
		started: make(chan struct{}),
	}
	switch {
	case c.StartupProbe == nil:
		close(i.started)
	case hasStarted(pod, c.Name, id):
		i.set(podtypes.Startup, podtypes.ProbeSuccess)
	}
	return i
}

// set notes what a probe says, and tells whether it is news.
func (i *instance) set(kind podtypes.ProbeKind, result podtypes.ProbeResult) bool {
	if i.results[kind] == result {
		return false
	}
	i.results[kind] = result
	if kind == podtypes.Startup && result == podtypes.ProbeSuccess {
		close(i.started)
	}
	return true
}

// due are the probes of a new instance that are to be made.
func (i *instance) due(c *corev1.Container) map[podtypes.ProbeKind]*corev1.Probe {
	due := map[podtypes.ProbeKind]*corev1.Probe{}
	for kind, probe := range probesOf(c) {
		if probe != nil && i.results[kind] == podtypes.ProbeUnknown {
			due[kind] = probe
		}
	}
	return due
}

// stop ends the workers of the kinds.
func (i *instance) stop(kinds ...podtypes.ProbeKind) {
	for _, kind := range kinds {
		if w, ok := i.workers[kind]; ok {
			w.stop()
			delete(i.workers, kind)
		}
	}
}

func (i *instance) stopAll() { i.stop(slices.Collect(maps.Keys(i.workers))...) }

func probesOf(c *corev1.Container) map[podtypes.ProbeKind]*corev1.Probe {
	return map[podtypes.ProbeKind]*corev1.Probe{
		podtypes.Startup: c.StartupProbe, podtypes.Liveness: c.LivenessProbe, podtypes.Readiness: c.ReadinessProbe,
	}
}

// probed lists the pod's containers that have probes.
func probed(pod *corev1.Pod) []*corev1.Container {
	var all []*corev1.Container
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			if c := &list[i]; c.StartupProbe != nil || c.LivenessProbe != nil || c.ReadinessProbe != nil {
				all = append(all, c)
			}
		}
	}
	return all
}

// isInit tells whether a container is one of the pod's init containers: a sidecar.
func isInit(pod *corev1.Pod, name string) bool {
	return slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == name })
}

// hasStarted tells whether the container is past its startup probe by the pod's status,
// which an earlier run of the agent has reported.
func hasStarted(pod *corev1.Pod, name, id string) bool {
	for _, list := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range list {
			if s := &list[i]; s.Name == name && strings.HasSuffix(s.ContainerID, "://"+id) {
				return s.Started != nil && *s.Started
			}
		}
	}
	return false
}
