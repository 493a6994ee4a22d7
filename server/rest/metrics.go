// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// metrics of the answered requests, in Kubernetes' words.
type metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
}

func newMetrics(r prometheus.Registerer) *metrics {
	auto := promauto.With(r)
	return &metrics{
		requests: auto.NewCounterVec(prometheus.CounterOpts{
			Name: "berth_http_requests_total",
			Help: "Answered HTTP requests by verb, resource and status code.",
		}, []string{"verb", "resource", "code"}),
		duration: auto.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "berth_http_request_duration_seconds",
			Help:    "How long HTTP requests took that end by themselves: no watches and logs.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 14), // 0.5 ms to 4 s
		}, []string{"verb", "resource"}),
	}
}

func (m *metrics) observe(verb, resource string, code int, took time.Duration) {
	m.requests.WithLabelValues(verb, resource, strconv.Itoa(code)).Inc()
	if verb != "WATCH" && !strings.HasSuffix(resource, "/log") {
		m.duration.WithLabelValues(verb, resource).Observe(took.Seconds())
	}
}

// verbOf returns the verb and the resource of a request, in a number that clients
// cannot raise; the resource is empty for what is no object.
func verbOf(r *http.Request) (verb, resource string) {
	path, isWatch := unwatchedPath(watchPath(r.URL.Path, r.URL.Query()))
	t, ok := parsePath(path)
	if ok {
		resource = t.kind.Resource
	}
	if ok && knownSubresources[t.subresource] {
		resource += "/" + t.subresource
	}
	return verbOfMethod(r.Method, ok && isWatch, ok && t.name == ""), resource
}

var knownSubresources = map[string]bool{"status": true, "binding": true, "log": true}

func verbOfMethod(method string, watch, list bool) string {
	switch {
	case method == http.MethodGet && watch:
		return "WATCH"
	case method == http.MethodGet && list:
		return "LIST"
	}
	switch method {
	case http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodHead, http.MethodOptions:
		return method
	}
	return "other"
}
