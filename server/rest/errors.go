// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/server/apierror"
)

// writeError answers with err as a Kubernetes Status.
func writeError(w http.ResponseWriter, r *http.Request, err error) {
	s := apierror.From(err).ErrStatus
	m := marshaler{answer: mediaJSON, pretty: wantsPretty(r)}
	if q := requestOf(r.Context()); q != nil {
		m = q.form
	}
	body, err := m.Marshal(&s)
	if err != nil {
		http.Error(w, s.Message, int(s.Code))
		return
	}
	h := w.Header()
	h.Del("Transfer-Encoding")
	h.Set("Content-Type", m.ContentType(nil))
	if s.Details != nil && s.Details.RetryAfterSeconds > 0 {
		h.Set("Retry-After", strconv.Itoa(int(s.Details.RetryAfterSeconds)))
	}
	w.WriteHeader(int(s.Code))
	_, _ = w.Write(body) // the client went away; nobody is left to tell
}

func newStatus(code int32, reason metav1.StatusReason, format string, args ...any) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: code, Reason: reason, Message: fmt.Sprintf(format, args...),
	}}
}

// notFoundPath has details though there are none: clients look into them for the
// name of an object, to tell a path that is not there from an object.
func notFoundPath() error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound,
		Message: "the server could not find the requested resource", Details: &metav1.StatusDetails{},
	}}
}

func methodNotAllowed(method string) error {
	return newStatus(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed,
		"the server does not allow the method %s on the requested resource", method)
}

func notAcceptable() error {
	return newStatus(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable,
		"only the following media types are accepted: %s", strings.Join(accepted, ", "))
}

func unsupportedMediaType(got string, accepted ...string) error {
	return newStatus(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
		"the body of the request was in an unknown format (Content-Type %q) - accepted media types include: %s",
		got, strings.Join(accepted, ", "))
}
