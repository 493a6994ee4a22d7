// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// health serves /healthz, which fails until the node is up, when the sync loop is
// stuck or the runtime cannot be listed, and /metrics.
type health struct {
	listener net.Listener
	metrics  prometheus.Gatherer
	checks   atomic.Pointer[[]func() error]
}

var errStarting = errors.New("the node is starting")

// newHealth takes the address before the node is known to anyone; nil without one.
func newHealth(address string, metrics prometheus.Gatherer) (*health, error) {
	if address == "" {
		return nil, nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("health: %w", err)
	}
	return &health{listener: listener, metrics: metrics}, nil
}

// up says what tells from now on whether the node works.
func (h *health) up(checks ...func() error) {
	if h != nil {
		h.checks.Store(&checks)
	}
}

func (h *health) run(ctx context.Context) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", h.answer)
	mux.Handle("GET /metrics", promhttp.HandlerFor(h.metrics, promhttp.HandlerOpts{}))
	server := &http.Server{Handler: mux}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(h.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (h *health) answer(w http.ResponseWriter, _ *http.Request) {
	if err := h.check(); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}

func (h *health) check() error {
	checks := h.checks.Load()
	if checks == nil {
		return errStarting
	}
	var errs []error
	for _, check := range *checks {
		errs = append(errs, check())
	}
	return errors.Join(errs...)
}
