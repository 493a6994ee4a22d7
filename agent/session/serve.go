// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"

	nodepb "github.com/berth-run/berth/proto/berth/node/v1"
)

// A server that says nothing for keepaliveTime is probed, and given up
// keepaliveTimeout later. One that does not answer a Hello within welcomeWithin
// is given up, too.
const (
	keepaliveTime    = 10 * time.Second
	keepaliveTimeout = 8 * time.Second
	welcomeWithin    = 15 * time.Second
)

// maxMessage leaves room for a message with one object as large as the server
// takes.
const maxMessage = 8 << 20

var (
	errNoWelcome = errors.New("the server does not answer")
	errEnded     = errors.New("the server has ended the session")
)

type stream = grpc.BidiStreamingClient[nodepb.AgentMessage, nodepb.ServerMessage]

// connection is one session: the state that does not outlive it.
type connection struct {
	*Client
	stream stream
	// formerStore is the one that the node's pods came from, as Hello says; empty if
	// none is known.
	formerStore string
	// foreign: the server has another store than the node's pods came from.
	foreign bool
	// storeID is the server's.
	storeID string
	synced  bool
	// welcome is closed when the server has answered.
	welcome chan struct{}
}

// serve dials, and holds one session until it breaks or ctx ends. It tells
// whether the server had answered.
func (c *Client) serve(ctx context.Context) (welcomed bool, err error) {
	formerStore, err := readStoreID(c.config.StoreFile)
	if err != nil {
		return false, err
	}
	conn, err := grpc.NewClient(c.config.Target, c.dialOptions()...)
	if err != nil {
		return false, fmt.Errorf("server address %q: %w", c.config.Target, err)
	}
	defer conn.Close()
	g, ctx := errgroup.WithContext(ctx)
	s, err := nodepb.NewNodeClient(conn).Session(ctx)
	if err != nil {
		return false, err
	}
	k := &connection{Client: c, stream: s, formerStore: formerStore, welcome: make(chan struct{})}
	defer c.connected.Store(false)
	g.Go(func() error { return k.receive(ctx) })
	g.Go(func() error { return k.send(ctx) })
	err = g.Wait()
	return k.storeID != "", err
}

func (c *Client) dialOptions() []grpc.DialOption {
	return append([]grpc.DialOption{
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: keepaliveTime, Timeout: keepaliveTimeout, PermitWithoutStream: true}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)),
		grpc.WithNoProxy(),
	}, c.config.DialOptions...)
}

// receive reads the stream until it breaks.
func (k *connection) receive(ctx context.Context) error {
	for {
		m, err := k.stream.Recv()
		if errors.Is(err, io.EOF) {
			return errEnded
		}
		if err != nil {
			return err
		}
		if err := k.take(ctx, m); err != nil {
			return err
		}
	}
}
