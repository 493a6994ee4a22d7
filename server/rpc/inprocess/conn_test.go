// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package inprocess

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// healthServer is any service with a unary and a streaming method.
type healthServer struct {
	healthpb.UnimplementedHealthServer
	watch func(grpc.ServerStreamingServer[healthpb.HealthCheckResponse]) error
}

func (healthServer) Check(ctx context.Context, req *healthpb.HealthCheckRequest) (*healthpb.HealthCheckResponse, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	if err := grpc.SetHeader(ctx, metadata.Pairs("echo", req.Service, "who", md.Get("who")[0])); err != nil {
		return nil, err
	}
	if req.Service == "" {
		return nil, status.Error(codes.InvalidArgument, "no service")
	}
	return &healthpb.HealthCheckResponse{Status: healthpb.HealthCheckResponse_SERVING}, nil
}

func (h healthServer) Watch(_ *healthpb.HealthCheckRequest, s grpc.ServerStreamingServer[healthpb.HealthCheckResponse]) error {
	return h.watch(s)
}

func newClient(t *testing.T, h healthServer) (healthpb.HealthClient, *[]string) {
	var calls []string
	c := New(
		func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			calls = append(calls, info.FullMethod)
			return next(ctx, req)
		},
		func(srv any, s grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
			calls = append(calls, info.FullMethod)
			return next(srv, s)
		})
	healthpb.RegisterHealthServer(c, h)
	return healthpb.NewHealthClient(c), &calls
}

func TestUnary(t *testing.T) {
	client, calls := newClient(t, healthServer{})
	ctx := metadata.AppendToOutgoingContext(t.Context(), "who", "me")

	var header metadata.MD
	resp, err := client.Check(ctx, &healthpb.HealthCheckRequest{Service: "a"}, grpc.Header(&header))
	if err != nil || resp.Status != healthpb.HealthCheckResponse_SERVING {
		t.Errorf("%v, %v", resp, err)
	}
	if header.Get("echo")[0] != "a" || header.Get("who")[0] != "me" {
		t.Errorf("header: %v", header)
	}
	if _, err := client.Check(ctx, &healthpb.HealthCheckRequest{}); status.Code(err) != codes.InvalidArgument {
		t.Errorf("error: %v", err)
	}
	if len(*calls) != 2 || (*calls)[0] != healthpb.Health_Check_FullMethodName {
		t.Errorf("intercepted: %v", *calls)
	}
}

func TestStream(t *testing.T) {
	client, calls := newClient(t, healthServer{watch: func(s grpc.ServerStreamingServer[healthpb.HealthCheckResponse]) error {
		if err := s.SendHeader(metadata.Pairs("begun", "yes")); err != nil {
			return err
		}
		for i := range 3 {
			if err := s.Send(&healthpb.HealthCheckResponse{Status: healthpb.HealthCheckResponse_ServingStatus(i)}); err != nil {
				return err
			}
		}
		return nil
	}})
	stream, err := client.Watch(t.Context(), &healthpb.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if md, err := stream.Header(); err != nil || md.Get("begun")[0] != "yes" {
		t.Errorf("header: %v, %v", md, err)
	}
	for i := range 3 {
		if resp, err := stream.Recv(); err != nil || int(resp.Status) != i {
			t.Errorf("reply %d: %v, %v", i, resp, err)
		}
	}
	if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("end: %v", err)
	}
	if len(*calls) != 1 {
		t.Errorf("intercepted: %v", *calls)
	}
}

// TestRefusedStream: a stream that is refused before its header says so there.
func TestRefusedStream(t *testing.T) {
	client, _ := newClient(t, healthServer{watch: func(grpc.ServerStreamingServer[healthpb.HealthCheckResponse]) error {
		return status.Error(codes.NotFound, "no such thing")
	}})
	stream, err := client.Watch(t.Context(), &healthpb.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Header(); status.Code(err) != codes.NotFound {
		t.Errorf("header: %v", err)
	}
	if _, err := stream.Recv(); status.Code(err) != codes.NotFound {
		t.Errorf("receive: %v", err)
	}
}

// TestCancelledStream: a handler that sends to a client that has gone is told so,
// and whoever asked to wait for it does.
func TestCancelledStream(t *testing.T) {
	var ended error
	client, _ := newClient(t, healthServer{watch: func(s grpc.ServerStreamingServer[healthpb.HealthCheckResponse]) error {
		for ended == nil {
			ended = s.Send(&healthpb.HealthCheckResponse{})
		}
		return ended
	}})
	ctx, cancel := context.WithCancel(t.Context())
	var streams sync.WaitGroup
	stream, err := client.Watch(WithStreams(ctx, &streams), &healthpb.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil {
		t.Fatal(err)
	}
	cancel()
	streams.Wait()
	if status.Code(ended) != codes.Canceled {
		t.Errorf("the handler saw %v", ended)
	}
}

func TestUnknownMethod(t *testing.T) {
	c := New(nil, nil)
	err := c.Invoke(t.Context(), "/no.Service/Method", nil, nil)
	if status.Code(err) != codes.Unimplemented {
		t.Errorf("unary: %v", err)
	}
	if _, err := c.NewStream(t.Context(), &grpc.StreamDesc{}, "/no.Service/Method"); status.Code(err) != codes.Unimplemented {
		t.Errorf("stream: %v", err)
	}
}
