// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package tunnel keeps the agent's second connection to the server, through which
// the server asks for what users want of the node's containers: their logs.
package tunnel

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/hashicorp/yamux"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/berth-run/berth/internal/muxconn"
	nodepb "github.com/berth-run/berth/proto/berth/node/v1"
)

// Config is what a Client needs.
type Config struct {
	// Target and DialOptions are those of grpc.NewClient.
	Target      string
	DialOptions []grpc.DialOption
	// Node is the node's name, NodeID what tells it from others of that name.
	Node, NodeID string
	// Handler answers the server's requests; see NewHandler.
	Handler http.Handler
	// MaxBackoff bounds the wait between two attempts to connect; 5 s if 0.
	MaxBackoff time.Duration
	Logger     *slog.Logger
}

// Client keeps the tunnel open.
type Client struct {
	config Config
}

// New returns a client that Run starts.
func New(config Config) *Client {
	if config.MaxBackoff == 0 {
		config.MaxBackoff = 5 * time.Second
	}
	return &Client{config}
}

// stable is how long a tunnel must have been open for the next attempt to come
// without delay.
const stable = 10 * time.Second

// Run serves the tunnel, and opens it again whenever it breaks, until ctx ends.
func (c *Client) Run(ctx context.Context) error {
	backoff := c.backoff()
	for {
		began := time.Now()
		err := c.serve(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if time.Since(began) >= stable {
			backoff = c.backoff()
		}
		delay := backoff.Step()
		c.config.Logger.Info("the tunnel to the server is closed", "err", err, "retry", delay)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(delay):
		}
	}
}

func (c *Client) backoff() wait.Backoff {
	return wait.Backoff{Duration: 100 * time.Millisecond, Factor: 2, Jitter: 1, Steps: 16, Cap: c.config.MaxBackoff / 2}
}

// serve opens the tunnel and answers requests until it breaks or ctx ends.
func (c *Client) serve(ctx context.Context) error {
	conn, err := grpc.NewClient(c.config.Target, append([]grpc.DialOption{grpc.WithNoProxy()}, c.config.DialOptions...)...)
	if err != nil {
		return fmt.Errorf("server address %q: %w", c.config.Target, err)
	}
	defer conn.Close()
	ctx, cancel := context.WithCancel(metadata.AppendToOutgoingContext(ctx,
		muxconn.NodeKey, c.config.Node, muxconn.NodeIDKey, c.config.NodeID))
	defer cancel()
	stream, err := nodepb.NewNodeClient(conn).Tunnel(ctx)
	if err != nil {
		return err
	}
	session, err := muxconn.Server(stream, c.config.Logger)
	if err != nil {
		return err
	}
	return c.serveHTTP(ctx, cancel, session)
}

// endWithin bounds the wait for handlers whose connection and context have ended.
const endWithin = 10 * time.Second

// serveHTTP answers the session's requests until it or ctx ends, and returns when
// no handler runs any more.
func (c *Client) serveHTTP(ctx context.Context, cancel context.CancelFunc, session *yamux.Session) error {
	server := &http.Server{
		Handler:     c.config.Handler,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    slog.NewLogLogger(c.config.Logger.Handler(), slog.LevelDebug),
	}
	closed := make(chan struct{})
	context.AfterFunc(ctx, func() {
		defer close(closed)
		session.Close()
	})
	c.config.Logger.Info("the tunnel to the server is open")
	err := server.Serve(session)
	cancel()
	<-closed
	ended, stop := context.WithTimeout(context.WithoutCancel(ctx), endWithin)
	defer stop()
	if shutdownErr := server.Shutdown(ended); shutdownErr != nil {
		c.config.Logger.Warn("a request outlives the tunnel", "err", shutdownErr)
	}
	return err
}
