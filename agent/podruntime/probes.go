// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/api"
)

// Probes says what the probes of containers have found.
type Probes interface {
	// Result returns what the container's probe of that kind says, and ProbeUnknown
	// while it has said nothing, or if there is none. It says it on when the
	// container has ended, until the next one has taken its place.
	Result(containerID string, kind podtypes.ProbeKind) podtypes.ProbeResult
}

// probeResults are what a pod's probes say, by container ID, as one sync sees them.
type probeResults map[string]containerProbes

type containerProbes struct{ startup, liveness podtypes.ProbeResult }

func (r *Runtime) probeResults(status *podtypes.PodStatus) probeResults {
	if r.cfg.Probes == nil || status == nil {
		return nil
	}
	results := probeResults{}
	for i := range status.Containers {
		id := status.Containers[i].ID
		results[id] = containerProbes{
			startup:  r.cfg.Probes.Result(id, podtypes.Startup),
			liveness: r.cfg.Probes.Result(id, podtypes.Liveness),
		}
	}
	return results
}

// started tells whether a container runs and is past its startup probe.
func (p probeResults) started(spec *corev1.Container, c *podtypes.ContainerStatus) bool {
	return c.State == podtypes.ContainerRunning &&
		(spec.StartupProbe == nil || p[c.ID].startup == podtypes.ProbeSuccess)
}

// unhealthy tells whether a probe has failed for which the container is stopped.
func (p probeResults) unhealthy(id string) bool {
	return p[id].liveness == podtypes.ProbeFailure || p[id].startup == podtypes.ProbeFailure
}

// stopUnhealthy stops a container that runs if a probe of it has failed, and starts the
// next one unless no failure is to be followed by a start.
func (d *decision) stopUnhealthy(spec *corev1.Container, c *podtypes.ContainerStatus) {
	if !d.probes.unhealthy(c.ID) {
		return
	}
	kind, probe := "liveness", spec.LivenessProbe
	if d.probes[c.ID].liveness != podtypes.ProbeFailure {
		kind, probe = "startup", spec.StartupProbe
	}
	message := fmt.Sprintf("Container %s failed %s probe", c.Name, kind)
	if api.ShouldRestart(&d.pod.Spec, spec, killedCode) {
		message += ", will be restarted"
		d.start(spec)
	}
	d.Kill = append(d.Kill, containerToKill{ID: c.ID, Name: c.Name, Message: message, Grace: graceOf(probe)})
}

// graceOf returns the grace that the probe has of its own, or nil.
func graceOf(probe *corev1.Probe) *time.Duration {
	if probe == nil || probe.TerminationGracePeriodSeconds == nil {
		return nil
	}
	grace := api.Seconds(*probe.TerminationGracePeriodSeconds)
	return &grace
}
