// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net"
	"os"

	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// healthServer serves as long as a file is there.
type healthServer struct {
	healthpb.UnimplementedHealthServer
	file string
}

func (s *healthServer) Check(context.Context, *healthpb.HealthCheckRequest) (*healthpb.HealthCheckResponse, error) {
	reply := &healthpb.HealthCheckResponse{Status: healthpb.HealthCheckResponse_SERVING}
	if _, err := os.Stat(s.file); err != nil {
		reply.Status = healthpb.HealthCheckResponse_NOT_SERVING
	}
	return reply, nil
}

func serveHealth(port, file string) error {
	term := terms()
	l, err := net.Listen("tcp", ":"+port)
	if err != nil {
		return err
	}
	s := grpc.NewServer()
	healthpb.RegisterHealthServer(s, &healthServer{file: file})
	failed := make(chan error, 1)
	go func() { failed <- s.Serve(l) }()
	fmt.Println("serving health on", port)
	select {
	case err := <-failed:
		return err
	case <-term:
		s.Stop()
		return nil
	}
}
