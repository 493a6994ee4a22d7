// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package muxconn carries a yamux session over the frames of a gRPC stream: the
// two ends of the Tunnel RPC use it.
package muxconn

import (
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/hashicorp/yamux"

	nodepb "github.com/berth-run/berth/proto/berth/node/v1"
)

// The metadata keys by which an agent says whose tunnel it opens: the node's name,
// and the id that tells it from other agents that were given the same one.
const (
	NodeKey   = "berth-node"
	NodeIDKey = "berth-node-id"
)

// window lets one stream fill a path of 400 Mbit/s at 80 ms.
const window = 4 << 20

// Stream is either end of the Tunnel RPC.
type Stream interface {
	Send(*nodepb.Frame) error
	Recv() (*nodepb.Frame, error)
}

// Client starts the session's end that opens streams.
func Client(s Stream, logger *slog.Logger) (*yamux.Session, error) {
	return yamux.Client(newConn(s), config(logger))
}

// Server starts the session's end that accepts streams.
func Server(s Stream, logger *slog.Logger) (*yamux.Session, error) {
	return yamux.Server(newConn(s), config(logger))
}

func config(logger *slog.Logger) *yamux.Config {
	c := yamux.DefaultConfig()
	c.MaxStreamWindowSize = window
	c.KeepAliveInterval = 10 * time.Second
	c.LogOutput = nil
	c.Logger = slog.NewLogLogger(logger.Handler(), slog.LevelDebug)
	return c
}

// conn makes a byte stream of frames. A Recv cannot be interrupted, so a
// goroutine of its own does it: that one ends with the RPC, while Close frees
// the reader at once.
type conn struct {
	stream Stream
	frames chan []byte
	rest   []byte
	closed chan struct{}
	once   sync.Once
	// err is why frames was closed.
	err error
}

func newConn(s Stream) *conn {
	c := &conn{stream: s, frames: make(chan []byte), closed: make(chan struct{})}
	go c.receive()
	return c
}

func (c *conn) receive() {
	defer close(c.frames)
	for {
		f, err := c.stream.Recv()
		if err != nil {
			c.err = err
			return
		}
		select {
		case c.frames <- f.GetData():
		case <-c.closed:
			c.err = io.ErrClosedPipe
			return
		}
	}
}

// Read returns the rest of the last frame, or waits for the next one.
func (c *conn) Read(p []byte) (int, error) {
	for len(c.rest) == 0 {
		select {
		case data, ok := <-c.frames:
			if !ok {
				return 0, c.err
			}
			c.rest = data
		case <-c.closed:
			return 0, io.ErrClosedPipe
		}
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// Write sends p as one frame; gRPC may keep a message, so the frame has a copy.
func (c *conn) Write(p []byte) (int, error) {
	if err := c.stream.Send(&nodepb.Frame{Data: append([]byte(nil), p...)}); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close frees the reader. A Write in progress ends with the RPC.
func (c *conn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}
