// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package faultproxy stands between a client and the socket of a real runtime and
// makes calls go wrong as a script says. It knows CRI only to show requests to the
// script's rules; what it carries, it carries as bytes.
package faultproxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/berth-run/berth/agent/cri/fault"
)

const maxMessage = 64 << 20

// Run serves the unix socket at listen, which it makes and removes, and passes all
// calls on to the runtime's socket at target, until the context ends. ready, unless
// nil, is closed when the socket is there.
func Run(ctx context.Context, listen, target string, script *fault.Script, ready chan<- struct{}) error {
	upstream, err := grpc.NewClient("unix://"+target,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(raw{}), grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage)))
	if err != nil {
		return fmt.Errorf("runtime socket %s: %w", target, err)
	}
	defer upstream.Close()
	listener, err := net.Listen("unix", listen)
	if err != nil {
		return fmt.Errorf("proxy socket: %w", err)
	}
	p := &proxy{upstream: upstream, script: script}
	server := grpc.NewServer(grpc.ForceServerCodecV2(raw{}), grpc.UnknownServiceHandler(p.handle),
		grpc.MaxRecvMsgSize(maxMessage), grpc.MaxSendMsgSize(maxMessage), grpc.WaitForHandlers(true))
	stop := context.AfterFunc(ctx, server.Stop)
	defer stop()
	if ready != nil {
		close(ready)
	}
	if err := server.Serve(listener); err != nil && ctx.Err() == nil {
		return fmt.Errorf("proxy socket %s: %w", listen, err)
	}
	server.Stop()
	return nil
}

type proxy struct {
	upstream *grpc.ClientConn
	script   *fault.Script
}

// handle serves a call of any method: all of CRI's take one request.
func (p *proxy) handle(_ any, client grpc.ServerStream) error {
	ctx := client.Context()
	method, ok := grpc.MethodFromServerStream(client)
	if !ok {
		return status.Error(codes.Internal, "a call without a method")
	}
	var request []byte
	if err := client.RecvMsg(&request); err != nil {
		return err
	}
	send := func(reply []byte) error { return client.SendMsg(&reply) }
	if isStream(method) {
		return p.call(ctx, method, request, send)
	}
	// The one reply is held back until the script lets it go.
	var reply []byte
	err := p.call(ctx, method, request, func(b []byte) error { reply = b; return nil })
	if err != nil {
		return err
	}
	return send(reply)
}

func (p *proxy) call(ctx context.Context, method string, request []byte, send func([]byte) error) error {
	return p.script.Around(ctx, method, decode(method, request), func() error {
		return p.forward(ctx, method, request, send)
	})
}

// forward makes the call and hands each reply to send.
func (p *proxy) forward(ctx context.Context, method string, request []byte, send func([]byte) error) error {
	if md, ok := metadata.FromIncomingContext(ctx); ok {
		ctx = metadata.NewOutgoingContext(ctx, md)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := p.upstream.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, method)
	if err != nil {
		return err
	}
	if err := stream.SendMsg(&request); err != nil {
		return err
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	for {
		var reply []byte
		err := stream.RecvMsg(&reply)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = send(reply)
		}
		if err != nil {
			return err
		}
	}
}

// raw is a codec that leaves messages as they are on the wire.
type raw struct{}

var _ encoding.CodecV2 = raw{}

func (raw) Name() string { return "proto" }

func (raw) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(*v.(*[]byte))}, nil
}

func (raw) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}
