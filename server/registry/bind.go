// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/berth-run/berth/api"
)

// Bind gives a pod its node. A pod that has one, or that is being deleted, is
// refused with reason Conflict.
func (r *Registry) Bind(ctx context.Context, namespace string, b *corev1.Binding) error {
	if errs := validateBinding(b); len(errs) > 0 {
		return apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Binding").GroupKind(), b.Name, errs)
	}
	if err := placeInNamespace(api.Pods, &corev1.Pod{ObjectMeta: b.ObjectMeta}, namespace); err != nil {
		return err
	}
	_, err := r.change(ctx, api.Pods, namespace, b.Name, func(current api.Object) (decision, error) {
		pod := current.(*corev1.Pod)
		if b.UID != "" && b.UID != pod.UID {
			return decision{}, uidMismatch(api.Pods, b.Name, b.UID, pod.UID)
		}
		if err := requireBindable(pod); err != nil {
			return decision{}, err
		}
		return decision{write: bound(pod, b, r.now())}, nil
	})
	return err
}

func validateBinding(b *corev1.Binding) (errs field.ErrorList) {
	target := field.NewPath("target")
	if b.Name == "" {
		errs = append(errs, field.Required(field.NewPath("metadata", "name"), ""))
	}
	if b.Target.Kind != "" && b.Target.Kind != "Node" {
		errs = append(errs, field.NotSupported(target.Child("kind"), b.Target.Kind, []string{"Node", "<empty>"}))
	}
	if b.Target.Name == "" {
		errs = append(errs, field.Required(target.Child("name"), ""))
	}
	return errs
}

func requireBindable(pod *corev1.Pod) error {
	switch {
	case pod.DeletionTimestamp != nil:
		return bindConflict(pod.Name, "pod %s is being deleted, cannot be assigned to a host", pod.Name)
	case pod.Spec.NodeName != "":
		return bindConflict(pod.Name, "pod %s is already assigned to node %q", pod.Name, pod.Spec.NodeName)
	}
	return nil
}

func bindConflict(name, format string, args ...any) error {
	resource := api.Pods.GroupResource()
	resource.Resource += "/binding"
	return apierrors.NewConflict(resource, name, fmt.Errorf(format, args...))
}

// bound returns the pod as it is once it has its node.
func bound(pod *corev1.Pod, b *corev1.Binding, now time.Time) *corev1.Pod {
	next := pod.DeepCopy()
	next.Spec.NodeName = b.Target.Name
	next.Generation++
	if len(b.Annotations) > 0 {
		if next.Annotations == nil {
			next.Annotations = map[string]string{}
		}
		maps.Copy(next.Annotations, b.Annotations)
	}
	api.SetPodCondition(&next.Status, corev1.PodCondition{
		Type: corev1.PodScheduled, Status: corev1.ConditionTrue,
		LastTransitionTime: metav1.NewTime(now).Rfc3339Copy(),
	})
	return next
}
