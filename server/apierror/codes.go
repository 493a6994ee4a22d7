// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package apierror

import (
	"net/http"

	"google.golang.org/grpc/codes"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// statusClientClosedRequest is what proxies log when the client went away
// before its answer; nobody is left to read it.
const statusClientClosedRequest = 499

// row relates a Kubernetes reason to the HTTP code that goes with it and to the
// closest gRPC code.
type row struct {
	reason metav1.StatusReason
	http   int32
	grpc   codes.Code
}

// table is the one code table. Where several rows share a gRPC code, the first
// is what the code alone means.
var table = []row{
	{metav1.StatusReasonNotFound, http.StatusNotFound, codes.NotFound},
	{metav1.StatusReasonAlreadyExists, http.StatusConflict, codes.AlreadyExists},
	{metav1.StatusReasonConflict, http.StatusConflict, codes.Aborted},
	{metav1.StatusReasonBadRequest, http.StatusBadRequest, codes.InvalidArgument},
	{metav1.StatusReasonInvalid, http.StatusUnprocessableEntity, codes.InvalidArgument},
	{metav1.StatusReasonRequestEntityTooLarge, http.StatusRequestEntityTooLarge, codes.InvalidArgument},
	{metav1.StatusReasonUnsupportedMediaType, http.StatusUnsupportedMediaType, codes.InvalidArgument},
	{metav1.StatusReasonNotAcceptable, http.StatusNotAcceptable, codes.InvalidArgument},
	{metav1.StatusReasonForbidden, http.StatusForbidden, codes.PermissionDenied},
	{metav1.StatusReasonUnauthorized, http.StatusUnauthorized, codes.Unauthenticated},
	{metav1.StatusReasonExpired, http.StatusGone, codes.OutOfRange},
	{metav1.StatusReasonGone, http.StatusGone, codes.OutOfRange},
	{metav1.StatusReasonTooManyRequests, http.StatusTooManyRequests, codes.ResourceExhausted},
	{metav1.StatusReasonTimeout, http.StatusGatewayTimeout, codes.DeadlineExceeded},
	{metav1.StatusReasonServerTimeout, http.StatusInternalServerError, codes.Unavailable},
	{metav1.StatusReasonServiceUnavailable, http.StatusServiceUnavailable, codes.Unavailable},
	{metav1.StatusReasonMethodNotAllowed, http.StatusMethodNotAllowed, codes.Unimplemented},
	{metav1.StatusReasonInternalError, http.StatusInternalServerError, codes.Internal},
}

// byCode answers for the gRPC codes that no reason has of its own.
var byCode = map[codes.Code]row{
	codes.Canceled:           {metav1.StatusReasonTimeout, statusClientClosedRequest, codes.Canceled},
	codes.FailedPrecondition: {metav1.StatusReasonConflict, http.StatusConflict, codes.FailedPrecondition},
	codes.Unavailable:        {metav1.StatusReasonServiceUnavailable, http.StatusServiceUnavailable, codes.Unavailable},
}

func grpcCode(s *metav1.Status) codes.Code {
	if s.Code == statusClientClosedRequest {
		return codes.Canceled
	}
	for _, r := range table {
		if r.reason == s.Reason {
			return r.grpc
		}
	}
	return codes.Unknown
}

func httpCode(reason metav1.StatusReason) int32 {
	for _, r := range table {
		if r.reason == reason {
			return r.http
		}
	}
	return http.StatusInternalServerError
}

func rowOf(code codes.Code) row {
	if r, ok := byCode[code]; ok {
		return r
	}
	for _, r := range table {
		if r.grpc == code {
			return r
		}
	}
	return row{metav1.StatusReasonInternalError, http.StatusInternalServerError, codes.Unknown}
}
