// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"github.com/berth-run/berth/api"
)

// strategy is what is special about writing one kind. Functions that are nil
// have nothing to do.
type strategy struct {
	// resetStatus gives a new object the status that it starts with.
	resetStatus func(obj api.Object)
	// complete gives a defaulted new object what follows from its namespace.
	complete func(obj api.Object)
	// keepSpec takes from old what an update by a user may leave out.
	keepSpec func(obj, old api.Object)
	// keepStatus takes the status of old into an update by a user.
	keepStatus func(obj, old api.Object)
	// sameSpec tells whether an update leaves the generation as it is.
	sameSpec func(obj, old api.Object) bool
}

func strategyOf(k *api.Kind) strategy {
	switch k {
	case api.Pods:
		return podStrategy
	case api.Nodes:
		return nodeStrategy
	case api.Namespaces:
		return namespaceStrategy
	}
	return strategy{}
}

// prepareForCreate makes of what a user sent the object that is to be validated.
func (s strategy) prepareForCreate(obj api.Object) {
	if s.resetStatus != nil {
		s.resetStatus(obj)
	}
	if s.sameSpec != nil {
		obj.SetGeneration(1)
	}
	api.Default(obj)
	if s.complete != nil {
		s.complete(obj)
	}
}

// prepare makes of an update in that scope the object that is to be validated. It
// may change obj.
func (s strategy) prepare(in scope, obj, old api.Object) api.Object {
	switch in {
	case statusOnly:
		return s.prepareForStatusUpdate(obj, old)
	case ephemeralContainers:
		return s.prepareForEphemeralUpdate(obj, old)
	case resizeOnly:
		return s.prepareForResize(obj, old)
	}
	s.prepareForUpdate(obj, old)
	return obj
}

// prepareForUpdate carries over what a user's update cannot change.
func (s strategy) prepareForUpdate(obj, old api.Object) {
	keepSystemMeta(obj, old)
	if s.keepSpec != nil {
		s.keepSpec(obj, old)
	}
	if s.keepStatus != nil {
		s.keepStatus(obj, old)
	}
	s.defaultUpdate(obj, old)
}

// prepareForStatusUpdate returns old with the status of obj.
func (s strategy) prepareForStatusUpdate(obj, old api.Object) api.Object {
	next := api.ShallowCopy(old)
	if s.keepStatus != nil {
		s.keepStatus(next, obj)
	}
	return next
}

// prepareForEphemeralUpdate returns the pod old with the ephemeral containers of obj.
func (s strategy) prepareForEphemeralUpdate(obj, old api.Object) api.Object {
	next := old.DeepCopyObject().(*corev1.Pod)
	next.Spec.EphemeralContainers = obj.(*corev1.Pod).Spec.EphemeralContainers
	s.defaultUpdate(next, old)
	return next
}

// prepareForResize returns the pod old with the resources of obj.
func (s strategy) prepareForResize(obj, old api.Object) api.Object {
	next := api.Resized(obj.(*corev1.Pod), old.(*corev1.Pod))
	s.defaultUpdate(next, old)
	return next
}

// defaultUpdate sets what an update left out. The specs are compared once the new one
// is defaulted, as the old one is.
func (s strategy) defaultUpdate(obj, old api.Object) {
	api.Default(obj)
	if s.sameSpec != nil && !s.sameSpec(obj, old) {
		obj.SetGeneration(old.GetGeneration() + 1)
	}
}

// keepSystemMeta restores the metadata that only the server sets.
func keepSystemMeta(obj, old api.Object) {
	obj.SetUID(old.GetUID())
	obj.SetResourceVersion(old.GetResourceVersion())
	obj.SetCreationTimestamp(old.GetCreationTimestamp())
	obj.SetGeneration(old.GetGeneration())
	obj.SetDeletionTimestamp(old.GetDeletionTimestamp())
	obj.SetDeletionGracePeriodSeconds(old.GetDeletionGracePeriodSeconds())
	obj.SetGenerateName(old.GetGenerateName())
	obj.SetSelfLink("")
}

var podStrategy = strategy{
	resetStatus: func(obj api.Object) {
		pod := obj.(*corev1.Pod)
		pod.Status = corev1.PodStatus{Phase: corev1.PodPending}
	},
	complete: func(obj api.Object) { nameAccount(&obj.(*corev1.Pod).Spec) },
	// A pod's manifest can be sent again as it was written, before the pod had
	// its node and the containers that were added to look into it.
	keepSpec: func(obj, old api.Object) {
		spec, before := &obj.(*corev1.Pod).Spec, &old.(*corev1.Pod).Spec
		if spec.NodeName == "" {
			spec.NodeName = before.NodeName
		}
		if len(spec.EphemeralContainers) == 0 {
			spec.EphemeralContainers = before.EphemeralContainers
		}
		keepAccount(spec, before)
		keepClasses(spec, before)
	},
	keepStatus: func(obj, old api.Object) { obj.(*corev1.Pod).Status = old.(*corev1.Pod).Status },
	sameSpec: func(obj, old api.Object) bool {
		return apiequality.Semantic.DeepEqual(obj.(*corev1.Pod).Spec, old.(*corev1.Pod).Spec)
	},
}

// A node's status comes with its object: an agent registers both at once.
var nodeStrategy = strategy{
	keepStatus: func(obj, old api.Object) {
		status := old.(*corev1.Node).Status
		api.AllocateExtended(&status)
		obj.(*corev1.Node).Status = status
	},
}

var namespaceStrategy = strategy{
	resetStatus: func(obj api.Object) {
		obj.(*corev1.Namespace).Status = corev1.NamespaceStatus{Phase: corev1.NamespaceActive}
	},
	// Only FinalizeNamespace takes a finalizer out of the spec.
	keepSpec:   func(obj, old api.Object) { obj.(*corev1.Namespace).Spec = old.(*corev1.Namespace).Spec },
	keepStatus: func(obj, old api.Object) { obj.(*corev1.Namespace).Status = old.(*corev1.Namespace).Status },
}

// warnings returns what a user should know of an object that was accepted.
func (r *Registry) warnings(obj api.Object) []string {
	out := api.Warnings(obj)
	pod, ok := obj.(*corev1.Pod)
	if !ok || pod.Spec.NodeName == "" || r.nodes.Registered(pod.Spec.NodeName) {
		return out
	}
	return append(out, fmt.Sprintf("spec.nodeName: node %q is not registered; the pod starts when it is", pod.Spec.NodeName))
}
