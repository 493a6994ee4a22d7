// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/agent/reach"
)

// GRPC asks the container's health service, over a connection of its own.
func GRPC(ctx context.Context, action *corev1.GRPCAction, podIP string, timeout time.Duration) Outcome {
	conn, err := grpc.NewClient("passthrough:///"+net.JoinHostPort(podIP, strconv.Itoa(int(action.Port))),
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithUserAgent(userAgent), grpc.WithNoProxy(),
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			return reach.NewDialer().DialContext(ctx, "tcp", address)
		}))
	if err != nil {
		return unknown(err)
	}
	defer conn.Close()
	ctx, cancel := withTimeout(ctx, timeout)
	defer cancel()
	reply, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{Service: ptr.Deref(action.Service, "")})
	if ctx.Err() != nil {
		return failure(fmt.Sprintf("timeout: health rpc did not complete within %v", timeout))
	}
	return ofHealth(reply.GetStatus(), err)
}

// ofHealth is what a health service's answer means.
func ofHealth(health healthpb.HealthCheckResponse_ServingStatus, err error) Outcome {
	switch {
	case status.Code(err) == codes.Unimplemented:
		return failure("error: this server does not implement the grpc health protocol (grpc.health.v1.Health): " + status.Convert(err).Message())
	case err != nil:
		return failure(fmt.Sprintf("error: health rpc probe failed: %v", err))
	case health != healthpb.HealthCheckResponse_SERVING:
		return failure(fmt.Sprintf("service unhealthy (responded with %q)", health))
	}
	return success("service healthy")
}
