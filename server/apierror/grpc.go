// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package apierror

import (
	"strings"

	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/anypb"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	corepb "github.com/berth-run/berth/proto/berth/core/v1"
)

var detailType = "type.googleapis.com/" + string((*corepb.Status)(nil).ProtoReflect().Descriptor().FullName())

// ToGRPC returns err as the error that a gRPC method returns; nil stays nil.
func ToGRPC(err error) error {
	if err == nil {
		return nil
	}
	s := &From(err).ErrStatus
	s.Message = strings.ToValidUTF8(s.Message, "\uFFFD") // proto3 refuses anything else
	out := &spb.Status{Code: int32(grpcCode(s)), Message: s.Message}
	// The encodings of metav1.Status and berth.core.v1.Status are the same.
	if raw, err := s.Marshal(); err == nil {
		out.Details = []*anypb.Any{{TypeUrl: detailType, Value: raw}}
	}
	return status.ErrorProto(out)
}

// fromGRPC prefers the Kubernetes Status among the details to what the code says.
func fromGRPC(s *status.Status) *apierrors.StatusError {
	for _, d := range s.Proto().GetDetails() {
		out := &apierrors.StatusError{}
		if d.GetTypeUrl() == detailType && out.ErrStatus.Unmarshal(d.GetValue()) == nil {
			return out
		}
	}
	r := rowOf(s.Code())
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: r.http, Reason: r.reason, Message: s.Message(),
	}}
}
