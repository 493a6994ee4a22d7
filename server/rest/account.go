// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

type metrics struct {
	requests *prometheus.CounterVec
}

func newMetrics(r prometheus.Registerer) *metrics {
	return &metrics{requests: promauto.With(r).NewCounterVec(prometheus.CounterOpts{
		Name: "berth_http_requests_total",
		Help: "Answered HTTP requests by method and status code.",
	}, []string{"method", "code"})}
}

// account counts and logs requests, and answers for those that panic.
func account(next http.Handler, logger *slog.Logger, m *metrics) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := &statusWriter{ResponseWriter: w}
		start, path := time.Now(), r.URL.Path
		defer func() {
			p := recover()
			if p != nil && p != http.ErrAbortHandler {
				logger.Error("panic in a request", "method", r.Method, "path", path, "panic", p, "stack", string(debug.Stack()))
				if out.code == 0 {
					writeError(out, r, errors.New("the request failed"))
				}
			}
			m.requests.WithLabelValues(methodLabel(r.Method), strconv.Itoa(out.code)).Inc()
			logger.Debug("request", "method", r.Method, "path", path, "code", out.code, "took", time.Since(start))
			if p != nil && out.code == http.StatusOK {
				panic(http.ErrAbortHandler) // too late to say that it failed
			}
		}()
		next.ServeHTTP(out, r)
	})
}

// methodLabel keeps clients from inventing metrics.
func methodLabel(method string) string {
	switch method {
	case http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodHead, http.MethodOptions:
		return method
	}
	return "other"
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
