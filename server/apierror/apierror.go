// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package apierror maps errors between their three forms: the
// *apierrors.StatusError of Kubernetes inside the server and over REST, the
// gRPC status over gRPC, and the errors of the store and of contexts below. It
// is the only place that knows which is which.
//
// A gRPC status carries the whole Kubernetes Status as a detail message
// (berth.core.v1.Status), so that nothing is lost on the way there and back.
package apierror

import (
	"context"
	"errors"

	"google.golang.org/grpc/status"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/store"
)

// From returns err as a Kubernetes Status error; nil stays nil. Its result is
// the caller's own and always has a code, a reason and the type of a Status.
func From(err error) *apierrors.StatusError {
	if err == nil {
		return nil
	}
	out := convert(err)
	out.ErrStatus.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	if out.ErrStatus.Status == "" {
		out.ErrStatus.Status = metav1.StatusFailure
	}
	if out.ErrStatus.Code == 0 {
		out.ErrStatus.Code = httpCode(out.ErrStatus.Reason)
	}
	return out
}

func convert(err error) *apierrors.StatusError {
	if s := (apierrors.APIStatus)(nil); errors.As(err, &s) {
		return &apierrors.StatusError{ErrStatus: s.Status()}
	}
	if s := (grpcError)(nil); errors.As(err, &s) {
		return fromGRPC(s.GRPCStatus())
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return apierrors.NewTimeoutError(err.Error(), 0)
	case errors.Is(err, context.Canceled):
		return newStatus(statusClientClosedRequest, metav1.StatusReasonTimeout, "the request was cancelled")
	case errors.Is(err, store.ErrNotFound):
		return newStatus(0, metav1.StatusReasonNotFound, err.Error())
	case errors.Is(err, store.ErrExists):
		return newStatus(0, metav1.StatusReasonAlreadyExists, err.Error())
	case errors.Is(err, store.ErrConflict):
		return newStatus(0, metav1.StatusReasonConflict, err.Error())
	case errors.Is(err, store.ErrCompacted), errors.Is(err, store.ErrSlowWatcher):
		return apierrors.NewResourceExpired(err.Error())
	case errors.Is(err, store.ErrTooLarge):
		return apierrors.NewRequestEntityTooLargeError(err.Error())
	case errors.Is(err, store.ErrClosed):
		return apierrors.NewServiceUnavailable("the server is shutting down")
	}
	return apierrors.NewInternalError(err)
}

// grpcError is how grpc's own errors, wrapped or not, show their status.
type grpcError interface {
	error
	GRPCStatus() *status.Status
}

func newStatus(code int32, reason metav1.StatusReason, message string) *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message,
	}}
}
