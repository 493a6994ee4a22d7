// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/berth-run/berth/api"
)

func isLog(r *http.Request) bool {
	t, ok := parsePath(r.URL.Path)
	return ok && t.kind == api.Pods && t.subresource == "log" && r.Method == http.MethodGet
}

type openLog func(ctx context.Context, namespace, name string, o *corev1.PodLogOptions) (io.ReadCloser, error)

// serveLog streams a container's log as text, each piece as soon as it is there.
func serveLog(open openLog) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		o, err := logOptions(r.URL.Query(), time.Now())
		if err != nil {
			writeError(w, r, err)
			return
		}
		t, _ := parsePath(r.URL.Path)
		log, err := open(r.Context(), t.namespace, t.name, o)
		if err != nil {
			writeError(w, r, err)
			return
		}
		defer log.Close()
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusOK)
		if !copyFlushed(w, log) {
			panic(http.ErrAbortHandler) // the client sees that the log is cut off
		}
	}
}

// copyFlushed tells whether it reached the end of the log.
func copyFlushed(w http.ResponseWriter, log io.Reader) bool {
	out := http.NewResponseController(w)
	buf := make([]byte, 32<<10)
	for {
		if err := out.Flush(); err != nil {
			return false
		}
		n, err := log.Read(buf)
		if n > 0 {
			if _, err := w.Write(buf[:n]); err != nil {
				return false
			}
		}
		if err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}

// logOptions reads the query parameters of Kubernetes' PodLogOptions.
func logOptions(query url.Values, now time.Time) (*corev1.PodLogOptions, error) {
	q := queryReader{values: query}
	o := &corev1.PodLogOptions{
		Container:    query.Get("container"),
		Follow:       q.bool("follow"),
		Previous:     q.bool("previous"),
		Timestamps:   q.bool("timestamps"),
		TailLines:    q.int64("tailLines"),
		SinceSeconds: q.int64("sinceSeconds"),
		LimitBytes:   q.int64("limitBytes"),
	}
	if since := q.time("sinceTime"); !since.IsZero() && o.SinceSeconds == nil {
		seconds := max(1, int64(math.Ceil(now.Sub(since).Seconds())))
		o.SinceSeconds = &seconds
	}
	return o, q.err
}

// queryReader parses parameters and keeps the first error.
type queryReader struct {
	values url.Values
	err    error
}

func (q *queryReader) fail(name string, err error) {
	if q.err == nil {
		q.err = apierrors.NewBadRequest(fmt.Sprintf("parameter %s=%q: %v", name, q.values.Get(name), err))
	}
}

func (q *queryReader) bool(name string) bool {
	if !q.values.Has(name) {
		return false
	}
	v, err := strconv.ParseBool(q.values.Get(name))
	if err != nil {
		q.fail(name, errors.New("not true or false"))
	}
	return v
}

func (q *queryReader) int64(name string) *int64 {
	if !q.values.Has(name) {
		return nil
	}
	v, err := strconv.ParseInt(q.values.Get(name), 10, 64)
	if err != nil {
		q.fail(name, errors.New("not a number"))
		return nil
	}
	return &v
}

func (q *queryReader) time(name string) time.Time {
	if !q.values.Has(name) {
		return time.Time{}
	}
	v, err := time.Parse(time.RFC3339, q.values.Get(name))
	if err != nil {
		q.fail(name, errors.New("not a time such as 2006-01-02T15:04:05Z"))
	}
	return v
}
