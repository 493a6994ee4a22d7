// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package apierror

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/berth-run/berth/api"
	corepb "github.com/berth-run/berth/proto/berth/core/v1"
	"github.com/berth-run/berth/store"
)

func TestCodes(t *testing.T) {
	pods := api.Pods.GroupResource()
	invalid := apierrors.NewInvalid(api.Pods.GroupVersionKind().GroupKind(), "web",
		field.ErrorList{field.Invalid(field.NewPath("spec", "nodeName"), "?", "bad name")})
	tests := []struct {
		err    error
		http   int32
		reason metav1.StatusReason
		grpc   codes.Code
	}{
		{apierrors.NewNotFound(pods, "web"), 404, metav1.StatusReasonNotFound, codes.NotFound},
		{apierrors.NewAlreadyExists(pods, "web"), 409, metav1.StatusReasonAlreadyExists, codes.AlreadyExists},
		{apierrors.NewConflict(pods, "web", errors.New("changed")), 409, metav1.StatusReasonConflict, codes.Aborted},
		{invalid, 422, metav1.StatusReasonInvalid, codes.InvalidArgument},
		{apierrors.NewBadRequest("what"), 400, metav1.StatusReasonBadRequest, codes.InvalidArgument},
		{apierrors.NewResourceExpired("old"), 410, metav1.StatusReasonExpired, codes.OutOfRange},
		{apierrors.NewForbidden(pods, "web", errors.New("no")), 403, metav1.StatusReasonForbidden, codes.PermissionDenied},
		{apierrors.NewServiceUnavailable("away"), 503, metav1.StatusReasonServiceUnavailable, codes.Unavailable},
		{fmt.Errorf("pod web: %w", apierrors.NewBadRequest("what")), 400, metav1.StatusReasonBadRequest, codes.InvalidArgument},
		{fmt.Errorf("key a: %w", store.ErrNotFound), 404, metav1.StatusReasonNotFound, codes.NotFound},
		{fmt.Errorf("key a: %w", store.ErrExists), 409, metav1.StatusReasonAlreadyExists, codes.AlreadyExists},
		{fmt.Errorf("key a: %w", store.ErrConflict), 409, metav1.StatusReasonConflict, codes.Aborted},
		{fmt.Errorf("key a: %w", store.ErrCompacted), 410, metav1.StatusReasonExpired, codes.OutOfRange},
		{fmt.Errorf("key a: %w", store.ErrTooLarge), 413, metav1.StatusReasonRequestEntityTooLarge, codes.InvalidArgument},
		{store.ErrClosed, 503, metav1.StatusReasonServiceUnavailable, codes.Unavailable},
		{context.Canceled, 499, metav1.StatusReasonTimeout, codes.Canceled},
		{context.DeadlineExceeded, 504, metav1.StatusReasonTimeout, codes.DeadlineExceeded},
		{status.Error(codes.Unavailable, "away"), 503, metav1.StatusReasonServiceUnavailable, codes.Unavailable},
		{status.Error(codes.Unimplemented, "no"), 405, metav1.StatusReasonMethodNotAllowed, codes.Unimplemented},
		{errors.New("a bug"), 500, metav1.StatusReasonInternalError, codes.Internal},
	}
	for _, tt := range tests {
		t.Run(tt.err.Error(), func(t *testing.T) {
			s := From(tt.err).ErrStatus
			if s.Code != tt.http || s.Reason != tt.reason {
				t.Errorf("HTTP %d %s, want %d %s", s.Code, s.Reason, tt.http, tt.reason)
			}
			if s.Kind != "Status" || s.Status != metav1.StatusFailure {
				t.Errorf("not a failure Status: %+v", s)
			}
			if got := status.Code(ToGRPC(tt.err)); got != tt.grpc {
				t.Errorf("gRPC %s, want %s", got, tt.grpc)
			}
		})
	}
}

func TestStatusSurvivesGRPC(t *testing.T) {
	want := apierrors.NewInvalid(api.Pods.GroupVersionKind().GroupKind(), "web",
		field.ErrorList{field.Required(field.NewPath("spec", "containers"), "")})
	err := ToGRPC(want)

	details := status.Convert(err).Details()
	if len(details) != 1 {
		t.Fatalf("details: %v", details)
	}
	detail, ok := details[0].(*corepb.Status)
	if !ok || detail.GetDetails().GetCauses()[0].GetField() != "spec.containers" {
		t.Errorf("detail: %T %v", details[0], details[0])
	}
	if diff := cmp.Diff(From(want), From(err)); diff != "" {
		t.Error(diff)
	}
}

func TestNilStaysNil(t *testing.T) {
	if From(nil) != nil || ToGRPC(nil) != nil {
		t.Error("no error became one")
	}
}

// TestInvalidTextInMessage: a message that is not UTF-8 must not make the gRPC
// status itself unencodable.
func TestInvalidTextInMessage(t *testing.T) {
	if got := status.Convert(ToGRPC(errors.New("a\xffb"))).Message(); got == "" || got == "a\xffb" {
		t.Errorf("message %q", got)
	}
}
