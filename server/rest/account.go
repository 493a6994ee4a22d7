// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"
)

// account counts and logs requests, and answers for those that panic.
func account(next http.Handler, logger *slog.Logger, m *metrics) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := &statusWriter{ResponseWriter: w}
		start, path := time.Now(), r.URL.Path
		verb, resource := verbOf(r)
		defer func() {
			p := recover()
			if p != nil && p != http.ErrAbortHandler {
				logger.Error("panic in a request", "method", r.Method, "path", path, "panic", p, "stack", string(debug.Stack()))
				if out.code == 0 {
					writeError(out, r, errors.New("the request failed"))
				}
			}
			m.observe(verb, resource, out.code, time.Since(start))
			logger.Debug("request", "method", r.Method, "path", path, "code", out.code, "took", time.Since(start))
			if p != nil && out.code == http.StatusOK {
				panic(http.ErrAbortHandler) // too late to say that it failed
			}
		}()
		next.ServeHTTP(out, r)
	})
}

// statusWriter remembers the status code. A second one is dropped: the gateway
// sends one when a watch breaks whose header is out already.
type statusWriter struct {
	http.ResponseWriter
	code int
}

func (w *statusWriter) WriteHeader(code int) {
	if w.code == 0 {
		w.code = code
		w.ResponseWriter.WriteHeader(code)
	}
}

func (w *statusWriter) Write(b []byte) (int, error) {
	if w.code == 0 {
		w.code = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController flush.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
