// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/server/registry"
	"github.com/berth-run/berth/server/rpc"
)

// MaxBodyBytes bounds a request's body: nothing larger could be stored.
const MaxBodyBytes = registry.MaxObjectBytes

// request is what we know of one HTTP request while the gateway works on it. It
// travels in the context, and as the request's body: the gateway's decoders get
// nothing but the body, and what they find must reach the answer.
type request struct {
	io.ReadCloser
	contentType     string
	fieldValidation string

	// form is that of the answer.
	form  marshaler
	shape shape
	watch bool
	// includeObject says what a table's rows carry of their objects, columnsSent
	// that the tables of a watch have named their columns.
	includeObject metav1.IncludeObjectPolicy
	columnsSent   bool

	// handed has the answers as they are in memory, for forms other than protobuf.
	handed rpc.Handover

	// warnings and err are what decoding the body found.
	warnings []string
	err      error
}

type requestKey struct{}

func requestOf(ctx context.Context) *request {
	r, _ := ctx.Value(requestKey{}).(*request)
	return r
}

// newRequest decides how to read the request and how to answer it.
func newRequest(w http.ResponseWriter, r *http.Request) (*request, error) {
	_, watch := unwatchedPath(r.URL.Path)
	answer, shape, ok := answerType(strings.Join(r.Header.Values("Accept"), ","), watch)
	if !ok {
		return nil, notAcceptable()
	}
	query := r.URL.Query()
	include, err := includePolicy(query.Get("includeObject"))
	if err != nil {
		return nil, err
	}
	return &request{
		ReadCloser:      http.MaxBytesReader(w, r.Body, MaxBodyBytes),
		contentType:     r.Header.Get("Content-Type"),
		fieldValidation: query.Get("fieldValidation"),
		form:            marshaler{answer: answer, pretty: wantsPretty(r)},
		shape:           shape,
		watch:           watch,
		includeObject:   include,
	}, nil
}

// attach puts the request into its HTTP request's context and body.
func (q *request) attach(r *http.Request) *http.Request {
	ctx := context.WithValue(r.Context(), requestKey{}, q)
	if q.form.answer != mediaProtobuf {
		ctx = rpc.WithHandover(ctx, &q.handed)
	}
	r = r.WithContext(ctx)
	r.Body = q
	return r
}

// readAll reads the body; io.EOF means that there is none.
func (q *request) readAll() ([]byte, error) {
	body, err := io.ReadAll(q.ReadCloser)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d bytes", tooLarge.Limit))
	case err != nil:
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the body of the request cannot be read: %v", err))
	case len(body) == 0:
		return nil, io.EOF
	}
	return body, nil
}

// wantsPretty indents JSON for people: on request, and for the clients that
// people type at.
func wantsPretty(r *http.Request) bool {
	if values, ok := r.URL.Query()["pretty"]; ok {
		return values[0] != "false" && values[0] != "0"
	}
	agent := r.UserAgent()
	for _, prefix := range []string{"curl/", "Wget/", "Mozilla/"} {
		if strings.HasPrefix(agent, prefix) {
			return true
		}
	}
	return false
}
