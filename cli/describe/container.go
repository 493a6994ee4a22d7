// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// containers shows each with what is asked of it and what became of it.
func (p *page) containers(label string, pod *corev1.Pod, list []corev1.Container, statuses []corev1.ContainerStatus, now time.Time) {
	if len(list) == 0 {
		return
	}
	p.section(label, func() {
		for i := range list {
			c := &list[i]
			status := statusOf(statuses, c.Name)
			p.section(c.Name, func() { p.container(pod, c, status, now) })
		}
	})
}

// conditionStatus is what is so or not in the word that conditions have for it.
func conditionStatus(is bool) corev1.ConditionStatus {
	if is {
		return corev1.ConditionTrue
	}
	return corev1.ConditionFalse
}

func statusOf(statuses []corev1.ContainerStatus, name string) *corev1.ContainerStatus {
	for i := range statuses {
		if statuses[i].Name == name {
			return &statuses[i]
		}
	}
	return nil
}

func (p *page) container(pod *corev1.Pod, c *corev1.Container, status *corev1.ContainerStatus, now time.Time) {
	if status != nil {
		p.given("Container ID", status.ContainerID)
	}
	p.field("Image", c.Image)
	if status != nil {
		p.given("Image ID", status.ImageID)
	}
	p.field("Ports", strings.Join(ports(c.Ports), ", "))
	if len(c.Command) > 0 {
		p.list("Command", c.Command)
	}
	if len(c.Args) > 0 {
		p.list("Args", c.Args)
	}
	if status != nil {
		p.state("State", status.State, now)
		if status.LastTerminationState.Terminated != nil {
			p.state("Last State", status.LastTerminationState, now)
		}
		p.field("Ready", conditionStatus(status.Ready))
		p.field("Restart Count", status.RestartCount)
	}
	p.resources("Limits", c.Resources.Limits)
	p.resources("Requests", c.Resources.Requests)
	p.environmentFrom(c.EnvFrom)
	p.environment(pod, c.Env)
	p.mounts(c.VolumeMounts)
}

// ports are those of a container, with the port of the node if they have one.
func ports(list []corev1.ContainerPort) []string {
	var out []string
	for _, port := range list {
		text := fmt.Sprintf("%d/%s", port.ContainerPort, port.Protocol)
		if port.HostPort != 0 {
			text += " on " + strings.TrimPrefix(fmt.Sprintf("%s:%d of the node", port.HostIP, port.HostPort), ":")
		}
		out = append(out, text)
	}
	return out
}

func (p *page) state(label string, s corev1.ContainerState, now time.Time) {
	switch {
	case s.Running != nil:
		p.field(label, "Running")
		p.detail("Started", moment(s.Running.StartedAt, now))
	case s.Terminated != nil:
		p.field(label, "Terminated")
		p.detail("Reason", s.Terminated.Reason)
		p.detail("Message", s.Terminated.Message)
		p.detail("Exit Code", fmt.Sprint(s.Terminated.ExitCode))
		if s.Terminated.Signal != 0 {
			p.detail("Signal", fmt.Sprint(s.Terminated.Signal))
		}
		p.detail("Started", moment(s.Terminated.StartedAt, now))
		p.detail("Finished", moment(s.Terminated.FinishedAt, now))
	default:
		p.field(label, "Waiting")
		if s.Waiting != nil {
			p.detail("Reason", s.Waiting.Reason)
			p.detail("Message", s.Waiting.Message)
		}
	}
}

// detail is a field below another.
func (p *page) detail(label, value string) { p.given("  "+label, value) }

func (p *page) resources(label string, list corev1.ResourceList) {
	if len(list) == 0 {
		return
	}
	p.section(label, func() {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			p.field(string(name), quantity(list, name))
		}
	})
}

func (p *page) mounts(mounts []corev1.VolumeMount) {
	if len(mounts) == 0 {
		p.field("Mounts", none)
		return
	}
	p.section("Mounts", func() {
		for _, m := range mounts {
			mode := "rw"
			if m.ReadOnly {
				mode = "ro"
			}
			p.row(fmt.Sprintf("%s from %s (%s)", m.MountPath, m.Name, mode))
		}
	})
}

func quantity(list corev1.ResourceList, name corev1.ResourceName) string {
	q := list[name]
	return q.String()
}
