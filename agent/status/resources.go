// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/agent/resize"
)

// setResources shows what the node has allocated to a container, and what it has.
func (c *container) setResources(s *corev1.ContainerStatus) {
	s.AllocatedResources = c.spec.Resources.DeepCopy().Requests
	var have *podtypes.ContainerResources
	if latest := c.Runtime.Latest(c.spec.Name); latest != nil && s.State.Running != nil {
		have = latest.Resources
	}
	actual := resize.Actual(c.Pod, c.spec, have)
	s.Resources = &corev1.ResourceRequirements{Limits: actual.Limits, Requests: actual.Requests}
}

// setResources shows those of the pod as a whole, if it has any.
func (in *Input) setResources(status *corev1.PodStatus) {
	if r := in.Pod.Spec.Resources; r != nil {
		status.Resources = r.DeepCopy()
		status.AllocatedResources = r.DeepCopy().Requests
	}
}

// resizeConditions tells how far a resize is that is not done.
func (in *Input) resizeConditions() (list []corev1.PodCondition) {
	if why := in.Resizing.Pending; why != nil {
		list = append(list, condition(corev1.PodResizePending, true, why.Reason, text(why.Message)))
	}
	switch failed := in.Resizing.Err; {
	case failed != "":
		list = append(list, condition(corev1.PodResizeInProgress, true, corev1.PodReasonError, text(failed)))
	case len(resize.Changes(in.Pod, in.Runtime)) > 0:
		list = append(list, condition(corev1.PodResizeInProgress, true, "", ""))
	}
	return list
}
