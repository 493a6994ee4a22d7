// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/berth-run/berth/api"
)

// applyClasses gives a new pod what follows from the classes that it names.
func (r *Registry) applyClasses(ctx context.Context, obj api.Object) error {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return nil
	}
	if err := r.resolvePriority(ctx, pod); err != nil {
		return err
	}
	return r.applyRuntimeClass(ctx, pod)
}

// keepClasses takes over what a pod got from its classes when it was created, as the
// manifest that it was created from says nothing of it.
func keepClasses(spec, old *corev1.PodSpec) {
	if spec.PriorityClassName == "" {
		spec.PriorityClassName = old.PriorityClassName
	}
	if spec.Priority == nil {
		spec.Priority = old.Priority
	}
	if spec.PreemptionPolicy == nil {
		spec.PreemptionPolicy = old.PreemptionPolicy
	}
	if spec.Overhead == nil {
		spec.Overhead = old.Overhead
	}
}

// ensurePriorityClasses creates those that exist from the first start.
func (r *Registry) ensurePriorityClasses(ctx context.Context) error {
	for _, class := range api.SystemPriorityClasses() {
		if _, _, err := r.Create(ctx, api.PriorityClasses, class, WriteOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create PriorityClass %s: %w", class.Name, err)
		}
	}
	return nil
}
