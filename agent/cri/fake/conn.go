// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package fake

import (
	"context"
	"path"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/cri"
)

// conn carries calls to the runtime by way of the generated descriptors: messages
// are copied as the wire would, and nothing else runs.
type conn struct{ runtime *Runtime }

var services = []*grpc.ServiceDesc{&runtimeapi.RuntimeService_ServiceDesc, &runtimeapi.ImageService_ServiceDesc}

// server returns what the service's handlers call.
func (c *conn) server(service string) any {
	if service == runtimeapi.ImageService_ServiceDesc.ServiceName {
		return &imageServer{Runtime: c.runtime}
	}
	return &runtimeServer{Runtime: c.runtime}
}

// Invoke makes a unary call, with the deadline that cri.Dial would give it.
func (c *conn) Invoke(ctx context.Context, method string, args, reply any, _ ...grpc.CallOption) error {
	ctx, cancel := cri.WithDeadline(ctx, args)
	defer cancel()
	request := proto.Clone(args.(proto.Message))
	c.record(method, request)
	err := c.runtime.Faults.Around(ctx, method, request, func() error {
		result, err := c.handle(ctx, method, request)
		if err == nil {
			proto.Merge(reply.(proto.Message), result)
		}
		return err
	})
	if err != nil {
		return status.Convert(err).Err()
	}
	return nil
}

func (c *conn) record(method string, request proto.Message) {
	c.runtime.mu.Lock()
	defer c.runtime.mu.Unlock()
	c.runtime.calls = append(c.runtime.calls, Call{Method: path.Base(method), Request: request})
}

func (c *conn) handle(ctx context.Context, method string, request proto.Message) (proto.Message, error) {
	if err := ctx.Err(); err != nil {
		return nil, status.FromContextError(err).Err()
	}
	for _, s := range services {
		for _, m := range s.Methods {
			if method != "/"+s.ServiceName+"/"+m.MethodName {
				continue
			}
			decode := func(into any) error { proto.Merge(into.(proto.Message), request); return nil }
			result, err := m.Handler(c.server(s.ServiceName), ctx, decode, nil)
			if err != nil {
				return nil, err
			}
			return result.(proto.Message), nil
		}
	}
	return nil, status.Errorf(codes.Unimplemented, "no method %s", method)
}

// NewStream serves the container events, the one stream that is faked. The handler
// ends with the stream's context.
func (c *conn) NewStream(ctx context.Context, _ *grpc.StreamDesc, method string, _ ...grpc.CallOption) (grpc.ClientStream, error) {
	if method != runtimeapi.RuntimeService_GetContainerEvents_FullMethodName {
		return nil, status.Errorf(codes.Unimplemented, "no stream %s", method)
	}
	return &eventStream{ctx: ctx, conn: c}, nil
}

// eventStream is the client's side of the events. It reads from its watcher
// itself, so there is no goroutine behind it.
type eventStream struct {
	ctx     context.Context // the stream's, as gRPC has it
	conn    *conn
	watcher *watcher
}

func (s *eventStream) SendMsg(m any) error {
	s.conn.record("GetContainerEvents", m.(proto.Message))
	return s.conn.runtime.Faults.Around(s.ctx, "GetContainerEvents", m.(proto.Message), func() error {
		s.watcher = s.conn.runtime.watch()
		return nil
	})
}

func (s *eventStream) RecvMsg(m any) error {
	event, err := s.watcher.next(s.ctx)
	if err != nil {
		s.conn.runtime.unwatch(s.watcher)
		return err
	}
	proto.Merge(m.(proto.Message), event)
	return nil
}

func (s *eventStream) Header() (metadata.MD, error) { return nil, nil }
func (s *eventStream) Trailer() metadata.MD         { return nil }
func (s *eventStream) CloseSend() error             { return nil }
func (s *eventStream) Context() context.Context     { return s.ctx }

// errStreamEnded is what a broken stream reads.
var errStreamEnded = status.Error(codes.Unavailable, "event stream broken")
