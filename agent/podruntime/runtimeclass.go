// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// handler is what the runtime runs the pod with; empty is its default.
func (r *Runtime) handler(pod *corev1.Pod) (string, error) {
	name := pod.Spec.RuntimeClassName
	if name == nil || *name == "" {
		return "", nil
	}
	class, err := r.cfg.Objects.RuntimeClass(*name)
	switch {
	case apierrors.IsNotFound(err):
		return "", fmt.Errorf("RuntimeClass %q not found", *name)
	case err != nil:
		return "", fmt.Errorf("RuntimeClass %q: %w", *name, err)
	}
	return class.Handler, nil
}
