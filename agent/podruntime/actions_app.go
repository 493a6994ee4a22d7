// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
)

// nextApps starts the regular containers that are to run and do not. When none is to
// run any more the pod ends, with all that ran beside them.
func (d *decision) nextApps() {
	before, kept := len(d.Start), 0
	for i := range d.pod.Spec.Containers {
		if d.nextApp(&d.pod.Spec.Containers[i]) {
			kept++
		}
	}
	if kept == 0 && len(d.Start) == before {
		d.endPod()
	}
}

// nextApp decides on one regular container and tells whether it is there: it stays, or
// its end is to be waited for.
func (d *decision) nextApp(spec *corev1.Container) bool {
	c := d.made(spec.Name)
	switch {
	case c == nil:
		if d.shouldRun(spec) {
			d.start(spec)
		}
	case c.State == podtypes.ContainerRunning && sameIdentity(c.Hash, spec) && d.resizeRestarts(spec, c):
		d.stopForResize(c)
		d.start(spec)
	case c.State == podtypes.ContainerRunning && sameIdentity(c.Hash, spec):
		d.stopUnhealthy(spec, c)
		return true
	case c.State == podtypes.ContainerRunning:
		d.replace(c)
		d.start(spec)
	case d.shouldRestart(spec, c):
		d.clearWay(c)
		d.start(spec)
	}
	return false
}

// anyAppMade tells whether a regular container was made in the sandbox.
func (d *decision) anyAppMade() bool {
	for i := range d.pod.Spec.Containers {
		if d.made(d.pod.Spec.Containers[i].Name) != nil {
			return true
		}
	}
	return false
}

// appsToRun lists the regular containers that have work left.
func (d *decision) appsToRun() []*corev1.Container {
	var all []*corev1.Container
	for i := range d.pod.Spec.Containers {
		if c := &d.pod.Spec.Containers[i]; d.shouldRun(c) {
			all = append(all, c)
		}
	}
	return all
}
