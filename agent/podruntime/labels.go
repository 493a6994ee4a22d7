// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"maps"
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

const (
	nodeLabel          = "berth.run/node"
	podNameLabel       = "io.kubernetes.pod.name"
	podNamespaceLabel  = "io.kubernetes.pod.namespace"
	podUIDLabel        = "io.kubernetes.pod.uid"
	containerNameLabel = "io.kubernetes.container.name"

	hashAnnotation                     = "io.kubernetes.container.hash"
	restartCountAnnotation             = "io.kubernetes.container.restartCount"
	terminationMessagePathAnnotation   = "io.kubernetes.container.terminationMessagePath"
	terminationMessagePolicyAnnotation = "io.kubernetes.container.terminationMessagePolicy"
)

// sandboxLabels are the pod's own and, above them, ours.
func (r *Runtime) sandboxLabels(pod *corev1.Pod) map[string]string {
	labels := maps.Clone(pod.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[nodeLabel] = r.cfg.NodeID
	labels[podNameLabel] = pod.Name
	labels[podNamespaceLabel] = pod.Namespace
	labels[podUIDLabel] = string(pod.UID)
	return labels
}

func (r *Runtime) containerLabels(pod *corev1.Pod, container string) map[string]string {
	return map[string]string{
		nodeLabel:          r.cfg.NodeID,
		podNameLabel:       pod.Name,
		podNamespaceLabel:  pod.Namespace,
		podUIDLabel:        string(pod.UID),
		containerNameLabel: container,
	}
}

func containerAnnotations(c *corev1.Container, restartCount uint32) map[string]string {
	return map[string]string{
		hashAnnotation:                     identity(c),
		restartCountAnnotation:             strconv.FormatUint(uint64(restartCount), 10),
		terminationMessagePathAnnotation:   c.TerminationMessagePath,
		terminationMessagePolicyAnnotation: string(c.TerminationMessagePolicy),
	}
}
