// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/api"
)

// resolvePriority gives a new pod the priority of its class, or of the default one,
// as it is now: later changes are for pods to come.
func (r *Registry) resolvePriority(ctx context.Context, pod *corev1.Pod) error {
	class, err := r.priorityClassOf(ctx, pod)
	if err != nil {
		return err
	}
	if asked := pod.Spec.Priority; asked != nil && *asked != class.Value {
		return apierrors.NewForbidden(api.Pods.GroupResource(), pod.Name, fmt.Errorf(
			"the integer value of priority (%d) must not be provided in pod spec; priority admission controller computed %d from the given PriorityClass name",
			*asked, class.Value))
	}
	policy := ptr.Deref(class.PreemptionPolicy, corev1.PreemptLowerPriority)
	if asked := pod.Spec.PreemptionPolicy; asked != nil && *asked != policy {
		return apierrors.NewForbidden(api.Pods.GroupResource(), pod.Name, fmt.Errorf(
			"the string value of PreemptionPolicy (%s) must not be provided in pod spec; priority admission controller computed %s from the given PriorityClass name",
			*asked, policy))
	}
	pod.Spec.PriorityClassName, pod.Spec.Priority, pod.Spec.PreemptionPolicy = class.Name, &class.Value, &policy
	return nil
}

// priorityClassOf returns the pod's class; without a default one, an empty class for
// a pod that names none.
func (r *Registry) priorityClassOf(ctx context.Context, pod *corev1.Pod) (*schedulingv1.PriorityClass, error) {
	name := pod.Spec.PriorityClassName
	if name == "" {
		return r.defaultPriorityClass(ctx, pod.Spec.PreemptionPolicy)
	}
	obj, err := r.Get(ctx, api.PriorityClasses, "", name)
	if apierrors.IsNotFound(err) {
		return nil, apierrors.NewForbidden(api.Pods.GroupResource(), pod.Name, fmt.Errorf("no PriorityClass with name %v was found", name))
	}
	if err != nil {
		return nil, err
	}
	class := *obj.(*schedulingv1.PriorityClass)
	return &class, nil
}

// defaultPriorityClass is that of the lowest value, should there be several.
func (r *Registry) defaultPriorityClass(ctx context.Context, policy *corev1.PreemptionPolicy) (*schedulingv1.PriorityClass, error) {
	found := &schedulingv1.PriorityClass{PreemptionPolicy: policy}
	list, err := r.List(ctx, api.PriorityClasses, "", ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, obj := range list.Items {
		class := *obj.(*schedulingv1.PriorityClass)
		if class.GlobalDefault && (found.Name == "" || class.Value < found.Value) {
			found = &class
		}
	}
	return found, nil
}

// requireOneDefault refuses a second default class.
func (r *Registry) requireOneDefault(ctx context.Context, obj api.Object) error {
	class, ok := obj.(*schedulingv1.PriorityClass)
	if !ok || !class.GlobalDefault {
		return nil
	}
	current, err := r.defaultPriorityClass(ctx, nil)
	if err != nil || current.Name == "" || current.Name == class.Name {
		return err
	}
	return apierrors.NewForbidden(api.PriorityClasses.GroupResource(), class.Name, fmt.Errorf(
		"PriorityClass %v is already marked as default. Only one default can exist", current.Name))
}

// keepSystemClass refuses to delete a class that exists from the first start.
func keepSystemClass(k *api.Kind, name string) error {
	if k != api.PriorityClasses || !api.IsSystemPriorityClass(name) {
		return nil
	}
	return apierrors.NewForbidden(k.GroupResource(), name, errors.New("this is a system priority class and cannot be deleted"))
}
