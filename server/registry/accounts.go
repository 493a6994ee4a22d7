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

// nameAccount gives a new pod that names no ServiceAccount the default one. An
// update may leave the name out.
func nameAccount(spec *corev1.PodSpec) {
	if spec.ServiceAccountName == "" {
		setAccount(spec, api.DefaultServiceAccount)
	}
}

func keepAccount(spec, old *corev1.PodSpec) {
	if spec.ServiceAccountName == "" && spec.DeprecatedServiceAccount == "" {
		setAccount(spec, old.ServiceAccountName)
	}
}

func setAccount(spec *corev1.PodSpec, name string) {
	spec.ServiceAccountName, spec.DeprecatedServiceAccount = name, name
}

// requireAccount refuses a new pod whose ServiceAccount does not exist. The default
// one need not be there yet: a new namespace gets it in a moment.
func (r *Registry) requireAccount(ctx context.Context, obj api.Object) error {
	pod, ok := obj.(*corev1.Pod)
	if !ok || api.ServiceAccountOf(pod) == api.DefaultServiceAccount {
		return nil
	}
	name := pod.Spec.ServiceAccountName
	_, err := r.Get(ctx, api.ServiceAccounts, pod.Namespace, name)
	if apierrors.IsNotFound(err) {
		return apierrors.NewForbidden(api.Pods.GroupResource(), pod.Name, fmt.Errorf(
			"error looking up service account %s/%s: serviceaccount %q not found", pod.Namespace, name, name))
	}
	return err
}
