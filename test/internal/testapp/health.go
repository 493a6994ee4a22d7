// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"time"

	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// healthServer serves as long as it is well.
type healthServer struct {
	healthpb.UnimplementedHealthServer
	well func() bool
}

func (s *healthServer) Check(context.Context, *healthpb.HealthCheckRequest) (*healthpb.HealthCheckResponse, error) {
	reply := &healthpb.HealthCheckResponse{Status: healthpb.HealthCheckResponse_SERVING}
	if !s.well() {
		reply.Status = healthpb.HealthCheckResponse_NOT_SERVING
	}
	return reply, nil
}

// whileThere is well as long as a file is there.
func whileThere(file string) func() bool {
	return func() bool {
		_, err := os.Stat(file)
		return err == nil
	}
}

// agnhostHealth is agnhost's grpc-health-checking, as far as the examples use it.
func agnhostHealth(args []string) error {
	flags := flag.NewFlagSet("grpc-health-checking", flag.ContinueOnError)
	delay := flags.Int("delay-unhealthy-sec", -1, "how long it is well; for ever if negative")
	port := flags.String("port", "5000", "where it serves")
	if err := flags.Parse(args); err != nil {
		return err
	}
	began := time.Now()
	return serveHealth(*port, func() bool { return *delay < 0 || time.Since(began) < time.Duration(*delay)*time.Second })
}

func serveHealth(port string, well func() bool) error {
	term := terms()
	l, err := net.Listen("tcp", ":"+port)
	if err != nil {
		return err
	}
	s := grpc.NewServer()
	healthpb.RegisterHealthServer(s, &healthServer{well: well})
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
