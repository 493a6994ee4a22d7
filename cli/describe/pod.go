// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/api"
)

func (p *page) pod(pod *corev1.Pod, now time.Time) {
	p.name(pod)
	p.given("Service Account", pod.Spec.ServiceAccountName)
	p.field("Node", nodeOf(pod))
	if pod.Spec.HostNetwork {
		p.field("Host Network", true)
	}
	if t := pod.Status.StartTime; t != nil {
		p.field("Start Time", moment(*t, now))
	}
	p.labels(pod)
	p.status(pod, now)
	p.field("IP", pod.Status.PodIP)
	p.owner(pod)
	p.containers("Init Containers", pod, pod.Spec.InitContainers, pod.Status.InitContainerStatuses, now)
	p.containers("Containers", pod, pod.Spec.Containers, pod.Status.ContainerStatuses, now)
	p.containers("Ephemeral Containers", pod, api.EphemeralContainers(&pod.Spec), pod.Status.EphemeralContainerStatuses, now)
	p.podConditions(pod.Status.Conditions, now)
	p.volumes(pod.Spec.Volumes)
	p.field("QoS Class", api.QoSClass(pod))
	p.field("Restart Policy", pod.Spec.RestartPolicy)
	p.list("Node-Selectors", pairs(pod.Spec.NodeSelector, "="))
	p.list("Tolerations", tolerations(pod.Spec.Tolerations))
}

func nodeOf(pod *corev1.Pod) string {
	if pod.Spec.NodeName == "" || pod.Status.HostIP == "" {
		return pod.Spec.NodeName
	}
	return pod.Spec.NodeName + "/" + pod.Status.HostIP
}

// status is the phase, unless the pod is on its way out.
func (p *page) status(pod *corev1.Pod, now time.Time) {
	if t := pod.DeletionTimestamp; t != nil && !api.IsTerminal(pod) {
		p.field("Status", "Terminating (since "+age(*t, now.Add(api.GracePeriod(pod)))+")")
		p.field("Termination Grace Period", api.GracePeriod(pod))
	} else {
		p.field("Status", string(pod.Status.Phase))
	}
	p.given("Reason", pod.Status.Reason)
	p.given("Message", pod.Status.Message)
	if deadline := pod.Spec.ActiveDeadlineSeconds; deadline != nil {
		p.field("Active Deadline", time.Duration(*deadline)*time.Second)
	}
}

func (p *page) podConditions(conditions []corev1.PodCondition, now time.Time) {
	var rows [][]string
	for _, c := range conditions {
		rows = append(rows, []string{string(c.Type), string(c.Status), age(c.LastTransitionTime, now), reasons(c.Reason, c.Message)})
	}
	p.table("Conditions", []string{"Type", "Status", "Since", "Reason"}, rows)
}

// reasons joins a reason and a message, of which either may be missing.
func reasons(reason, message string) string {
	switch {
	case reason == "":
		return message
	case message == "":
		return reason
	}
	return reason + ": " + message
}

func tolerations(list []corev1.Toleration) []string {
	var out []string
	for _, t := range list {
		text := t.Key
		if t.Value != "" {
			text += "=" + t.Value
		}
		if t.Effect != "" {
			text += ":" + string(t.Effect)
		}
		if t.Operator == corev1.TolerationOpExists {
			text += " op=Exists"
		}
		if t.TolerationSeconds != nil {
			text += fmt.Sprintf(" for %ds", ptr.Deref(t.TolerationSeconds, 0))
		}
		out = append(out, text)
	}
	return out
}
