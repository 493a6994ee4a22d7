// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package inprocess lets a generated gRPC client call services of the same
// process: no connection, no encoding, and the same interceptors as over the
// network. grpc-gateway serves REST through it.
package inprocess

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Conn is a client connection to the services registered with it. Register them
// all before the first call. Messages pass by reference: neither side may change
// a message that it sent or received.
type Conn struct {
	unary    grpc.UnaryServerInterceptor
	stream   grpc.StreamServerInterceptor
	services map[string]service
}

type service struct {
	desc *grpc.ServiceDesc
	impl any
}

var (
	_ grpc.ServiceRegistrar    = (*Conn)(nil)
	_ grpc.ClientConnInterface = (*Conn)(nil)
)

// New returns a connection whose calls pass through the interceptors.
func New(unary grpc.UnaryServerInterceptor, stream grpc.StreamServerInterceptor) *Conn {
	return &Conn{unary: unary, stream: stream, services: map[string]service{}}
}

// RegisterService implements grpc.ServiceRegistrar.
func (c *Conn) RegisterService(desc *grpc.ServiceDesc, impl any) {
	c.services[desc.ServiceName] = service{desc: desc, impl: impl}
}

// Invoke implements grpc.ClientConnInterface.
func (c *Conn) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	svc, name, err := c.lookup(method)
	if err != nil {
		return err
	}
	for i := range svc.desc.Methods {
		m := &svc.desc.Methods[i]
		if m.MethodName != name {
			continue
		}
		transport := &transport{method: method}
		answer, err := m.Handler(svc.impl, serverContext(ctx, transport), pass(args), c.unary)
		transport.deliver(opts)
		if err != nil {
			return err
		}
		return pass(answer)(reply)
	}
	return unimplemented(method)
}

// lookup splits /package.Service/Method.
func (c *Conn) lookup(method string) (service, string, error) {
	name, method, _ := strings.Cut(strings.TrimPrefix(method, "/"), "/")
	svc, ok := c.services[name]
	if !ok {
		return service{}, "", unimplemented(name)
	}
	return svc, method, nil
}

func unimplemented(what string) error {
	return status.Errorf(codes.Unimplemented, "%s is not served", what)
}

// serverContext is the call's context as the server sees it: the client's
// outgoing metadata is its incoming.
func serverContext(ctx context.Context, t grpc.ServerTransportStream) context.Context {
	if md, ok := metadata.FromOutgoingContext(ctx); ok {
		ctx = metadata.NewIncomingContext(ctx, md)
	}
	return grpc.NewContextWithServerTransportStream(ctx, t)
}

// pass returns a function that gives the message from to the message of the same
// type that it is called with, by reference: only the outermost fields are copied.
func pass(from any) func(to any) error {
	return func(to any) error {
		src, ok := from.(proto.Message)
		dst, ok2 := to.(proto.Message)
		if !ok || !ok2 {
			return fmt.Errorf("cannot pass %T as %T", from, to)
		}
		s, d := src.ProtoReflect(), dst.ProtoReflect()
		if s.Descriptor() != d.Descriptor() {
			return fmt.Errorf("cannot pass %T as %T", from, to)
		}
		s.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
			d.Set(f, v)
			return true
		})
		d.SetUnknown(s.GetUnknown())
		return nil
	}
}
