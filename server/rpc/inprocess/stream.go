// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package inprocess

import (
	"context"
	"io"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// NewStream implements grpc.ClientConnInterface for server-streaming methods.
// The handler runs in a goroutine of its own, which ends when it returns or,
// after the context ends, at its next Send. See WithStreams for who waits.
func (c *Conn) NewStream(ctx context.Context, _ *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	svc, name, err := c.lookup(method)
	if err != nil {
		return nil, err
	}
	for i := range svc.desc.Streams {
		if d := &svc.desc.Streams[i]; d.StreamName == name {
			return &clientStream{pipe: newPipe(ctx, method), run: c.runner(svc, d, method), opts: opts}, nil
		}
	}
	return nil, unimplemented(method)
}

// runner returns the call of one streaming handler through the interceptor.
func (c *Conn) runner(svc service, d *grpc.StreamDesc, method string) func(grpc.ServerStream) error {
	return func(s grpc.ServerStream) error {
		if c.stream == nil {
			return d.Handler(svc.impl, s)
		}
		info := &grpc.StreamServerInfo{FullMethod: method, IsServerStream: true}
		return c.stream(svc.impl, s, info, d.Handler)
	}
}

type streamsKey struct{}

// WithStreams returns a context whose streams wg counts until their handlers
// have returned.
func WithStreams(ctx context.Context, wg *sync.WaitGroup) context.Context {
	return context.WithValue(ctx, streamsKey{}, wg)
}

// pipe is what the two ends of a stream share.
type pipe struct {
	ctx       context.Context
	transport *transport
	// request carries the one message of the client; it is buffered, so that
	// sending it before the handler runs does not block.
	request chan any
	// replies is not buffered: a slow reader holds the handler back.
	replies chan any
	// err is the handler's result, to be read after done is closed.
	err  error
	done chan struct{}
}

func newPipe(ctx context.Context, method string) *pipe {
	t := &transport{method: method, sent: make(chan struct{})}
	return &pipe{
		ctx:       serverContext(ctx, t),
		transport: t,
		request:   make(chan any, 1),
		replies:   make(chan any),
		done:      make(chan struct{}),
	}
}

// clientStream is the client's end.
type clientStream struct {
	*pipe
	run  func(grpc.ServerStream) error
	opts []grpc.CallOption
}

// SendMsg starts the handler: a server-streaming call has one request.
func (s *clientStream) SendMsg(m any) error {
	s.request <- m
	work := func() {
		defer close(s.done)
		s.err = s.run(serverStream{s.pipe})
	}
	if wg, ok := s.ctx.Value(streamsKey{}).(*sync.WaitGroup); ok {
		wg.Go(work)
	} else {
		go work()
	}
	return nil
}

// Header waits until the handler sends its header or its first message. If it
// ends before that, Header returns its error, so that callers can tell a stream
// that was refused from one that broke.
func (s *clientStream) Header() (metadata.MD, error) {
	select {
	case <-s.transport.sent:
		return s.transport.Header(), nil
	case <-s.done:
	}
	select {
	case <-s.transport.sent:
		return s.transport.Header(), nil
	default:
		return nil, s.err
	}
}

// RecvMsg returns io.EOF after the handler returned nil.
func (s *clientStream) RecvMsg(m any) error {
	select {
	case reply := <-s.replies:
		return pass(reply)(m)
	case <-s.done:
		s.transport.deliver(s.opts)
		if s.err == nil {
			return io.EOF
		}
		return s.err
	}
}

func (s *clientStream) Trailer() metadata.MD     { return s.transport.Trailer() }
func (s *clientStream) CloseSend() error         { return nil }
func (s *clientStream) Context() context.Context { return s.ctx }

// serverStream is the handler's end.
type serverStream struct{ *pipe }

func (s serverStream) SendMsg(m any) error {
	s.transport.flush()
	select {
	case s.replies <- m:
		return nil
	case <-s.ctx.Done():
		return status.FromContextError(s.ctx.Err()).Err()
	}
}

func (s serverStream) RecvMsg(m any) error {
	select {
	case request := <-s.request:
		return pass(request)(m)
	default:
		return io.EOF
	}
}

func (s serverStream) SetHeader(md metadata.MD) error  { return s.transport.SetHeader(md) }
func (s serverStream) SendHeader(md metadata.MD) error { return s.transport.SendHeader(md) }
func (s serverStream) SetTrailer(md metadata.MD)       { _ = s.transport.SetTrailer(md) }
func (s serverStream) Context() context.Context        { return s.ctx }

// transport keeps a call's header and trailer.
type transport struct {
	method string

	mu              sync.Mutex
	header, trailer metadata.MD
	headerSent      bool
	// sent, where there is one, is closed when the header is sent.
	sent chan struct{}
}

var errHeaderSent = status.Error(codes.Internal, "the header was sent already")

func (t *transport) Method() string { return t.method }

func (t *transport) SetHeader(md metadata.MD) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.headerSent {
		return errHeaderSent
	}
	t.header = metadata.Join(t.header, md)
	return nil
}

func (t *transport) SendHeader(md metadata.MD) error {
	if err := t.SetHeader(md); err != nil {
		return err
	}
	t.flush()
	return nil
}

func (t *transport) SetTrailer(md metadata.MD) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.trailer = metadata.Join(t.trailer, md)
	return nil
}

// flush marks the header as sent.
func (t *transport) flush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.headerSent && t.sent != nil {
		close(t.sent)
	}
	t.headerSent = true
}

func (t *transport) Header() metadata.MD {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.header
}

func (t *transport) Trailer() metadata.MD {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.trailer
}

// deliver gives header and trailer to the call options that ask for them.
func (t *transport) deliver(opts []grpc.CallOption) {
	for _, o := range opts {
		switch o := o.(type) {
		case grpc.HeaderCallOption:
			*o.HeaderAddr = t.Header()
		case grpc.TrailerCallOption:
			*o.TrailerAddr = t.Trailer()
		}
	}
}
