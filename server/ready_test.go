// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// failing returns the names of the checks that fail.
func (s *Server) failing(ctx context.Context) []string {
	var names []string
	for _, c := range s.ready() {
		if c.Func(ctx) != nil {
			names = append(names, c.Name)
		}
	}
	return names
}

func newServer(t *testing.T) *Server {
	t.Helper()
	s, err := New(t.Context(), Config{
		DataDir: t.TempDir(), HTTP: "127.0.0.1:0", GRPC: "127.0.0.1:0", ClusterCIDR: DefaultClusterCIDR,
		Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestReadyOnlyWhileItRuns(t *testing.T) {
	s := newServer(t)
	if got := s.failing(t.Context()); !slices.Equal(got, []string{"dispatch", "scheduler", "listeners"}) {
		t.Errorf("before it runs these fail: %q", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	readyz := "http://" + s.listeners[0].Addr().String() + "/readyz?verbose"
	want := "[+]ping ok\n[+]store ok\n[+]dispatch ok\n[+]scheduler ok\n[+]listeners ok\n[+]shutdown ok\nreadyz check passed\n"
	if got := becomes(t, readyz, http.StatusOK); got != want {
		t.Errorf("while it runs:\n%s", got)
	}
	metrics := becomes(t, "http://"+s.listeners[0].Addr().String()+"/metrics", http.StatusOK)
	for _, name := range []string{"berth_store_revision", "berth_dispatch_sessions", "berth_scheduler_pending_pods", "go_goroutines"} {
		if !strings.Contains(metrics, "\n"+name) {
			t.Errorf("/metrics has no %s", name)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if got := s.failing(t.Context()); !slices.Equal(got, []string{"store", "dispatch", "scheduler", "listeners", "shutdown"}) {
		t.Errorf("after it ran these fail: %q", got)
	}
}

// becomes asks until the answer has that code, and returns it.
func becomes(t *testing.T, url string, code int) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if response.StatusCode == code {
			return string(body)
		}
	}
}
