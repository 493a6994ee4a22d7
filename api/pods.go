// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-helpers/resource"
)

// FullName returns namespace/name, by which logs and errors name an object.
func FullName(o metav1.Object) string {
	if o.GetNamespace() == "" {
		return o.GetName()
	}
	return o.GetNamespace() + "/" + o.GetName()
}

// IsTerminal tells whether the pod has ended for good: phase Succeeded or Failed.
func IsTerminal(pod *corev1.Pod) bool { return IsTerminalPhase(pod.Status.Phase) }

// IsTerminalPhase tells whether a phase is never left.
func IsTerminalPhase(phase corev1.PodPhase) bool {
	return phase == corev1.PodSucceeded || phase == corev1.PodFailed
}

// GracePeriod returns how long the pod may take to end: that of its deletion, or
// else that of its spec, or else Kubernetes' default of 30 s.
func GracePeriod(pod *corev1.Pod) time.Duration {
	switch {
	case pod.DeletionGracePeriodSeconds != nil:
		return Seconds(*pod.DeletionGracePeriodSeconds)
	case pod.Spec.TerminationGracePeriodSeconds != nil:
		return Seconds(*pod.Spec.TerminationGracePeriodSeconds)
	}
	return corev1.DefaultTerminationGracePeriodSeconds * time.Second
}

// Seconds is that many seconds, or as many as a duration can hold: 292 years.
func Seconds(n int64) time.Duration {
	const most = int64(math.MaxInt64 / time.Second)
	return time.Duration(min(max(n, -most), most)) * time.Second
}

// PodRequests returns what the pod asks of a node: the larger of what its
// containers ask together and what an init container asks, plus overhead.
func PodRequests(pod *corev1.Pod) corev1.ResourceList {
	return resource.PodRequests(pod, resource.PodResourcesOptions{})
}

// PodReserved returns what a pod that may have been resized takes of its node: until
// the node has made a resize true, the larger of what was, is and shall be.
func PodReserved(pod *corev1.Pod) corev1.ResourceList {
	return resource.PodRequests(pod, resource.PodResourcesOptions{
		UseStatusResources: true, InPlacePodLevelResourcesVerticalScalingEnabled: true,
	})
}

// PodLimits returns the pod's limits, reckoned as PodRequests does.
func PodLimits(pod *corev1.Pod) corev1.ResourceList {
	return resource.PodLimits(pod, resource.PodResourcesOptions{})
}

// PodLimit returns the limit of a resource that bounds the pod as a whole: there is
// one if the pod, or else each of its containers, has one.
func PodLimit(pod *corev1.Pod, name corev1.ResourceName) (limit apiresource.Quantity, ok bool) {
	if r := pod.Spec.Resources; r == nil || isZero(r.Limits, name) {
		for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
			for i := range list {
				if isZero(list[i].Resources.Limits, name) {
					return limit, false
				}
			}
		}
	}
	limit, ok = PodLimits(pod)[name]
	return limit, ok
}

func isZero(list corev1.ResourceList, name corev1.ResourceName) bool {
	q := list[name]
	return q.IsZero()
}

// Container returns the container of that name, of whatever kind, or nil.
func Container(pod *corev1.Pod, name string) *corev1.Container {
	for _, c := range Containers(&pod.Spec) {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// Containers returns the containers of all kinds: init containers, regular ones, and
// those that were added to look into the pod.
func Containers(spec *corev1.PodSpec) []*corev1.Container {
	all := make([]*corev1.Container, 0, len(spec.InitContainers)+len(spec.Containers)+len(spec.EphemeralContainers))
	for i := range spec.InitContainers {
		all = append(all, &spec.InitContainers[i])
	}
	for i := range spec.Containers {
		all = append(all, &spec.Containers[i])
	}
	for i := range spec.EphemeralContainers {
		all = append(all, (*corev1.Container)(&spec.EphemeralContainers[i].EphemeralContainerCommon))
	}
	return all
}

// LongRunning returns the containers that run side by side: sidecars and regular ones.
func LongRunning(spec *corev1.PodSpec) []*corev1.Container {
	var all []*corev1.Container
	for i := range spec.InitContainers {
		if c := &spec.InitContainers[i]; IsSidecar(c) {
			all = append(all, c)
		}
	}
	for i := range spec.Containers {
		all = append(all, &spec.Containers[i])
	}
	return all
}

// EphemeralContainers returns those containers that were added to look into the pod.
func EphemeralContainers(spec *corev1.PodSpec) []corev1.Container {
	var all []corev1.Container
	for i := range spec.EphemeralContainers {
		all = append(all, corev1.Container(spec.EphemeralContainers[i].EphemeralContainerCommon))
	}
	return all
}

// containerPath is where the i-th of all containers stands.
func containerPath(spec *corev1.PodSpec, i int) *field.Path {
	root := field.NewPath("spec")
	inits, regular := len(spec.InitContainers), len(spec.Containers)
	switch {
	case i < inits:
		return root.Child("initContainers").Index(i)
	case i < inits+regular:
		return root.Child("containers").Index(i - inits)
	}
	return root.Child("ephemeralContainers").Index(i - inits - regular)
}

// PodCondition returns the condition of that type, or nil.
func PodCondition(status *corev1.PodStatus, t corev1.PodConditionType) *corev1.PodCondition {
	for i := range status.Conditions {
		if status.Conditions[i].Type == t {
			return &status.Conditions[i]
		}
	}
	return nil
}

// SetPodCondition replaces the condition of that type or adds it. One that keeps its
// status keeps its transition time.
func SetPodCondition(status *corev1.PodStatus, c corev1.PodCondition) {
	old := PodCondition(status, c.Type)
	if old == nil {
		status.Conditions = append(status.Conditions, c)
		return
	}
	if old.Status == c.Status {
		c.LastTransitionTime = old.LastTransitionTime
	}
	*old = c
}

// NodeCondition returns the condition of that type, or nil.
func NodeCondition(status *corev1.NodeStatus, t corev1.NodeConditionType) *corev1.NodeCondition {
	for i := range status.Conditions {
		if status.Conditions[i].Type == t {
			return &status.Conditions[i]
		}
	}
	return nil
}

// IsReady tells whether the pod's Ready condition is true.
func IsReady(pod *corev1.Pod) bool {
	c := PodCondition(&pod.Status, corev1.PodReady)
	return c != nil && c.Status == corev1.ConditionTrue
}
