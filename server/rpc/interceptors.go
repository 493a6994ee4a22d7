// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/berth-run/berth/server/apierror"
)

func (s *Server) interceptUnary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (resp any, err error) {
	method := strings.TrimPrefix(info.FullMethod, "/")
	start := time.Now()
	err = s.call(ctx, method, func() error {
		resp, err = handler(ctx, req)
		return err
	})
	s.metrics.duration.WithLabelValues(method).Observe(time.Since(start).Seconds())
	if err != nil {
		return nil, err
	}
	return resp, nil
}

func (s *Server) interceptStream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	method := strings.TrimPrefix(info.FullMethod, "/")
	open := s.metrics.streams.WithLabelValues(method)
	open.Inc()
	defer open.Dec()
	return s.call(stream.Context(), method, func() error { return handler(srv, stream) })
}

// call runs one call and accounts for it. What it returns is a gRPC status.
func (s *Server) call(ctx context.Context, method string, do func() error) error {
	start := time.Now()
	err := apierror.ToGRPC(s.recovered(method, do))
	code := status.Code(err)
	s.metrics.requests.WithLabelValues(method, code.String()).Inc()
	s.logger.DebugContext(ctx, "call", "method", method, "code", code, "took", time.Since(start), "err", err)
	if code == codes.Internal {
		s.logger.ErrorContext(ctx, "call failed", "method", method, "err", err)
	}
	return err
}

// recovered turns a panic of do into an error: one bad request must not end the
// server.
func (s *Server) recovered(method string, do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			s.logger.Error("panic in a call", "method", method, "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("%s failed", method)
		}
	}()
	return do()
}
