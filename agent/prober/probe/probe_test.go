// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/agent/podtypes"
)

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func TestTCP(t *testing.T) {
	host, port := portOf(t, listen(t).Addr().String())
	if got := TCP(t.Context(), &corev1.TCPSocketAction{Port: intstr.FromInt32(port)}, app, host, generous); got.Result != podtypes.ProbeSuccess {
		t.Errorf("%s: %q", got.Result, got.Output)
	}
	if got := TCP(t.Context(), &corev1.TCPSocketAction{Port: intstr.FromInt32(port), Host: host}, app, "nowhere.invalid", generous); got.Result != podtypes.ProbeSuccess {
		t.Errorf("by its host: %s: %q", got.Result, got.Output)
	}
	got := TCP(t.Context(), &corev1.TCPSocketAction{Port: intstr.FromInt32(1)}, app, host, generous)
	if got.Result != podtypes.ProbeFailure || !strings.Contains(got.Output, "connection refused") {
		t.Errorf("nobody listens: %s: %q", got.Result, got.Output)
	}
	if got := TCP(t.Context(), &corev1.TCPSocketAction{Port: intstr.FromString("x")}, app, host, generous); got.Result != podtypes.ProbeUnknown {
		t.Errorf("no such port: %s: %q", got.Result, got.Output)
	}
}

func TestGRPC(t *testing.T) {
	services := health.NewServer()
	services.SetServingStatus("up", healthpb.HealthCheckResponse_SERVING)
	services.SetServingStatus("down", healthpb.HealthCheckResponse_NOT_SERVING)
	healthy := serve(t, func(s *grpc.Server) { healthpb.RegisterHealthServer(s, services) })
	without := serve(t, func(*grpc.Server) {})
	for name, tc := range map[string]struct {
		address string
		service *string
		result  podtypes.ProbeResult
		output  string
	}{
		"the server":      {healthy, nil, podtypes.ProbeSuccess, "service healthy"},
		"a service":       {healthy, ptr.To("up"), podtypes.ProbeSuccess, "service healthy"},
		"not serving":     {healthy, ptr.To("down"), podtypes.ProbeFailure, `service unhealthy (responded with "NOT_SERVING")`},
		"unknown service": {healthy, ptr.To("other"), podtypes.ProbeFailure, "error: health rpc probe failed"},
		"no health":       {without, nil, podtypes.ProbeFailure, "does not implement the grpc health protocol"},
		"nobody listens":  {"127.0.0.1:1", nil, podtypes.ProbeFailure, "connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			host, port := portOf(t, tc.address)
			got := GRPC(t.Context(), &corev1.GRPCAction{Port: port, Service: tc.service}, host, generous)
			if got.Result != tc.result || !strings.Contains(got.Output, tc.output) {
				t.Errorf("%s: %q", got.Result, got.Output)
			}
		})
	}
	// One that takes connections and says nothing.
	host, port := portOf(t, listen(t).Addr().String())
	got := GRPC(t.Context(), &corev1.GRPCAction{Port: port}, host, 50*time.Millisecond)
	if want := "timeout: health rpc did not complete within 50ms"; got.Result != podtypes.ProbeFailure || got.Output != want {
		t.Errorf("silence is %s: %q", got.Result, got.Output)
	}
}

func serve(t *testing.T, register func(*grpc.Server)) string {
	t.Helper()
	s := grpc.NewServer()
	register(s)
	l := listen(t)
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() { s.Stop(); <-done })
	return l.Addr().String()
}

func TestOfExec(t *testing.T) {
	for name, tc := range map[string]struct {
		output string
		err    error
		want   Outcome
	}{
		"success":         {"fine", nil, Outcome{Result: podtypes.ProbeSuccess, Output: "fine"}},
		"an exit code":    {"no\xff", &podtypes.ExitError{Code: 2}, Outcome{Result: podtypes.ProbeFailure, Output: "no\uFFFD"}},
		"too late":        {"", fmt.Errorf("%w: x", podtypes.ErrTimedOut), Outcome{Result: podtypes.ProbeFailure, Output: "command timed out: x"}},
		"no runtime":      {"", errors.New("unavailable"), Outcome{Result: podtypes.ProbeUnknown, Output: "unavailable"}},
		"a lot of output": {strings.Repeat("x", 1<<20), nil, Outcome{Result: podtypes.ProbeSuccess, Output: strings.Repeat("x", maxOutput)}},
	} {
		if got := OfExec(tc.output, tc.err); got != tc.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestTimeoutIsCountedInSlices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := withTimeout(t.Context(), time.Second)
		began := time.Now()
		<-ctx.Done()
		if took := time.Since(began); took != time.Second || !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			t.Errorf("ended after %s: %v", took, context.Cause(ctx))
		}
		cancel()
		ctx, cancel = withTimeout(t.Context(), time.Second)
		cancel()
		if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	})
}
