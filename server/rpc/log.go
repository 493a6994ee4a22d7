// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	"context"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/berth-run/berth/api"
)

// Logs opens the log of a pod's container on the pod's node; without a container
// in o, that of the only one. Its errors are Status errors. Closing the reader,
// or the end of ctx, ends the log.
type Logs interface {
	Open(ctx context.Context, pod *corev1.Pod, o *corev1.PodLogOptions) (io.ReadCloser, error)
}

// OpenLog opens a container's log after checking what is asked for.
func (s *Server) OpenLog(ctx context.Context, namespace, name string, o *corev1.PodLogOptions) (io.ReadCloser, error) {
	obj, err := s.reg.Get(ctx, api.Pods, namespaceOf(api.Pods, namespace, nil), name)
	if err != nil {
		return nil, err
	}
	if err := checkLogOptions(name, o); err != nil {
		return nil, err
	}
	return s.logs.Open(ctx, obj.(*corev1.Pod), o)
}

func checkLogOptions(name string, o *corev1.PodLogOptions) error {
	var errs field.ErrorList
	atLeast := func(path string, v *int64, least int64) {
		if v != nil && *v < least {
			errs = append(errs, field.Invalid(field.NewPath(path), *v, fmt.Sprintf("must be greater than or equal to %d", least)))
		}
	}
	atLeast("tailLines", o.TailLines, 0)
	atLeast("sinceSeconds", o.SinceSeconds, 1)
	atLeast("limitBytes", o.LimitBytes, 1)
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("PodLogOptions").GroupKind(), name, errs)
}
