// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/berth-run/berth/api"
)

// addPullSecrets gives a new pod that names no pull secrets those of its
// ServiceAccount, as Kubernetes does: later changes of the account are for pods to
// come. A pod of a static source has what its node gave it.
func (r *Registry) addPullSecrets(ctx context.Context, obj api.Object) error {
	pod, ok := obj.(*corev1.Pod)
	if !ok || len(pod.Spec.ImagePullSecrets) > 0 || pod.Annotations[corev1.MirrorPodAnnotationKey] != "" {
		return nil
	}
	account, err := r.Get(ctx, api.ServiceAccounts, pod.Namespace, cmp.Or(pod.Spec.ServiceAccountName, "default"))
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	pod.Spec.ImagePullSecrets = slices.Clone(account.(*corev1.ServiceAccount).ImagePullSecrets)
	return nil
}
