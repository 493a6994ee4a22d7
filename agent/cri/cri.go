// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cri connects to a container runtime that speaks CRI v1.
//
// Every unary call ends: one that carries no deadline of its own is given one, so
// that a runtime that hangs on one object fails that object's call and nothing
// else. Calls whose length the caller decides (a stop with a grace period, a command
// with a timeout) get that length and some slack; an image pull, and a command without
// a timeout, are as long as their caller's context.
package cri

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// maxMessage holds a listing of some ten thousand containers.
const maxMessage = 64 << 20

// Client calls one runtime.
type Client struct {
	Runtime runtimeapi.RuntimeServiceClient
	Images  runtimeapi.ImageServiceClient

	conn  grpc.ClientConnInterface
	close func() error
}

// Dial prepares a connection to the socket of a runtime: a path, or a URL such as
// unix:///run/containerd/containerd.sock. The connection is made with the first
// call and made anew whenever it breaks; an absent socket is not an error here.
// The interceptors see each call with the deadline that it has.
func Dial(endpoint string, interceptors ...grpc.UnaryClientInterceptor) (*Client, error) {
	if strings.HasPrefix(endpoint, "/") {
		endpoint = "unix://" + endpoint
	}
	conn, err := grpc.NewClient(endpoint,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithChainUnaryInterceptor(append([]grpc.UnaryClientInterceptor{withDeadline}, interceptors...)...),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage)),
		grpc.WithConnectParams(reconnect))
	if err != nil {
		return nil, fmt.Errorf("runtime endpoint %q: %w", endpoint, err)
	}
	c := NewClient(conn)
	c.close = conn.Close
	return c, nil
}

// NewClient makes calls over an existing connection, which stays its owner's.
func NewClient(conn grpc.ClientConnInterface) *Client {
	return &Client{
		Runtime: runtimeapi.NewRuntimeServiceClient(conn),
		Images:  runtimeapi.NewImageServiceClient(conn),
		conn:    conn,
		close:   func() error { return nil },
	}
}

// Close ends the connection that Dial made; calls in flight fail.
func (c *Client) Close() error { return c.close() }

// IsNotFound tells whether the runtime answered that it has no such object.
func IsNotFound(err error) bool { return status.Code(err) == codes.NotFound }

// withDeadline is the interceptor that gives each unary call an end.
func withDeadline(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	ctx, cancel := WithDeadline(ctx, req)
	defer cancel()
	return invoke(ctx, method, req, reply, cc, opts...)
}
