// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
)

func TestHealthFromTheStart(t *testing.T) {
	h, err := newHealth("127.0.0.1:0", newMetrics())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- h.run(ctx) }()
	expect := func(code int, text string) {
		t.Helper()
		response, err := http.Get("http://" + h.listener.Addr().String() + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, _ := io.ReadAll(response.Body)
		if response.StatusCode != code || !strings.Contains(string(body), text) {
			t.Errorf("%d %s, want %d %s", response.StatusCode, body, code, text)
		}
	}
	expect(http.StatusServiceUnavailable, "the node is starting")
	fine := func() error { return nil }
	h.up(fine, fine)
	expect(http.StatusOK, "ok")
	h.up(fine, func() error { return errors.New("the loop is stuck") })
	expect(http.StatusServiceUnavailable, "the loop is stuck")
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// An address that is taken is told before the node is known to the runtime or the
// server: neither is asked for here.
func TestRunFailsOnATakenHealthAddress(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	a, err := New(Config{
		Name: "n", Server: "unix:///nowhere", StateDir: t.TempDir(), RuntimeEndpoint: "unix:///nowhere",
		Health: l.Addr().String(), Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	err = a.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "health: listen tcp "+l.Addr().String()) || strings.Contains(err.Error(), "runtime") {
		t.Errorf("Run = %v", err)
	}
}
