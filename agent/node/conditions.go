// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"maps"
	"runtime"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/agent/podtypes"
)

// conditions says in the node's conditions what the runtime said. A condition
// that keeps its status keeps its transition time.
func conditions(status podtypes.RuntimeStatus, before []corev1.NodeCondition, now metav1.Time) []corev1.NodeCondition {
	ready := corev1.NodeCondition{
		Type: corev1.NodeReady, Status: corev1.ConditionTrue,
		Reason: "AgentReady", Message: "the agent can run pods",
	}
	if !canRunPods(status) {
		ready.Status, ready.Reason, ready.Message = corev1.ConditionFalse, status.Reason, status.Message
	}
	out := []corev1.NodeCondition{
		fine(corev1.NodeMemoryPressure, "AgentHasSufficientMemory"),
		fine(corev1.NodeDiskPressure, "AgentHasNoDiskPressure"),
		fine(corev1.NodePIDPressure, "AgentHasSufficientPID"),
		ready,
	}
	for i := range out {
		out[i].LastHeartbeatTime, out[i].LastTransitionTime = now, now
		for _, b := range before {
			if b.Type == out[i].Type && b.Status == out[i].Status {
				out[i].LastTransitionTime = b.LastTransitionTime
			}
		}
	}
	return out
}

func fine(t corev1.NodeConditionType, reason string) corev1.NodeCondition {
	return corev1.NodeCondition{Type: t, Status: corev1.ConditionFalse, Reason: reason}
}

func addresses(cfg Config) []corev1.NodeAddress {
	var out []corev1.NodeAddress
	for _, ip := range cfg.IPs {
		out = append(out, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: ip})
	}
	return append(out, corev1.NodeAddress{Type: corev1.NodeHostName, Address: cfg.Name})
}

// ownLabels are the well-known labels and those of the node's configuration.
func ownLabels(cfg Config) map[string]string {
	labels := map[string]string{
		corev1.LabelHostname:   cfg.Name,
		corev1.LabelOSStable:   runtime.GOOS,
		corev1.LabelArchStable: runtime.GOARCH,
	}
	maps.Copy(labels, cfg.Labels)
	return labels
}
