// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/api"
)

// nextInit goes on with the init containers, and tells whether the regular ones may
// start: those that have their turn have been started, or are started before.
//
// The last one that was made decides which is next, for the runtime may have lost the
// records of those before it. A regular container proves that all had their turn.
func (d *decision) nextInit() (done bool) {
	inits := d.pod.Spec.InitContainers
	if d.anyAppMade() {
		d.keepSidecars(inits)
		return true
	}
	for i := len(inits) - 1; i >= 0; i-- {
		if c := d.made(inits[i].Name); c != nil {
			d.keepSidecars(inits[:i])
			return d.afterInit(i, c)
		}
	}
	return d.startInits(0)
}

// afterInit decides by the init container that was made last.
func (d *decision) afterInit(i int, c *podtypes.ContainerStatus) (done bool) {
	spec := &d.pod.Spec.InitContainers[i]
	switch {
	case c.State == podtypes.ContainerRunning && !sameIdentity(c.Hash, spec):
		d.replace(c)
		return d.startInits(i)
	case c.State == podtypes.ContainerRunning && d.resizeRestarts(spec, c):
		d.stopForResize(c)
		return d.startInits(i)
	case c.State == podtypes.ContainerRunning && d.probes.unhealthy(c.ID):
		d.stopUnhealthy(spec, c)
		return false
	case c.State == podtypes.ContainerRunning:
		return api.IsSidecar(spec) && d.probes.started(spec, c) && d.startInits(i+1)
	case succeeded(c) && !api.IsSidecar(spec):
		return d.startInits(i + 1)
	case d.shouldRestart(spec, c):
		d.clearWay(c)
		return d.startInits(i)
	}
	// One that failed for good ends the pod.
	d.endPod()
	return false
}

// startInits starts the init containers from the i-th on, as far as none has to be
// waited for: up to the first that has work to do, or a startup probe to pass. It tells
// whether there was none.
func (d *decision) startInits(i int) (done bool) {
	for ; i < len(d.pod.Spec.InitContainers); i++ {
		c := &d.pod.Spec.InitContainers[i]
		d.Start = append(d.Start, containerToStart{Container: c, First: true})
		if !api.IsSidecar(c) || c.StartupProbe != nil {
			return false
		}
	}
	return true
}

// keepSidecars starts those of the init containers anew that are to run beside the
// others and do not.
func (d *decision) keepSidecars(inits []corev1.Container) {
	for i := range inits {
		spec := &inits[i]
		if !api.IsSidecar(spec) {
			continue
		}
		switch c := d.made(spec.Name); {
		case c == nil:
			d.start(spec)
		case c.State != podtypes.ContainerRunning:
			d.clearWay(c)
			d.start(spec)
		case !sameIdentity(c.Hash, spec):
			d.replace(c)
			d.start(spec)
		case d.resizeRestarts(spec, c):
			d.stopForResize(c)
			d.start(spec)
		default:
			d.stopUnhealthy(spec, c)
		}
	}
}

// initFailed tells whether an init container has failed for good, in any sandbox:
// the pod has failed then.
func (d *decision) initFailed() bool {
	for i := range d.pod.Spec.InitContainers {
		spec := &d.pod.Spec.InitContainers[i]
		if c := d.status.Latest(spec.Name); c != nil && !succeeded(c) && !d.shouldRestart(spec, c) {
			return true
		}
	}
	return false
}
