// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package tunnel reaches the agents, which dial out and are never dialled: each
// keeps a yamux session open over the Tunnel RPC, and the server opens a stream
// in it for each request of a user.
package tunnel

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/berth-run/berth/internal/muxconn"
	nodepb "github.com/berth-run/berth/proto/berth/node/v1"
)

// reconnectWait is how long a request waits for an agent without a tunnel: one
// that has just started, or lost its connection, is back by then.
const reconnectWait = time.Second

// Liveness tells which agent a node has, and when it was last heard of. Both
// return false for a node that this server has not heard of.
type Liveness interface {
	Agent(node string) (id string, ok bool)
	LastSeen(node string) (time.Time, bool)
}

// Tunnels holds the open tunnel of each agent: the newest one.
type Tunnels struct {
	liveness Liveness
	logger   *slog.Logger

	mu      sync.Mutex
	tunnels tunnels
	// opened is closed, and replaced, whenever a tunnel opens.
	opened chan struct{}
}

// New returns an empty set of tunnels.
func New(liveness Liveness, logger *slog.Logger) *Tunnels {
	return &Tunnels{
		liveness: liveness,
		logger:   logger,
		tunnels:  tunnels{},
		opened:   make(chan struct{}),
	}
}

// Tunnel serves the RPC: it ends with the agent's connection, or with ABORTED
// when a newer tunnel of the agent takes over.
func (t *Tunnels) Tunnel(stream grpc.BidiStreamingServer[nodepb.Frame, nodepb.Frame]) error {
	node := first(metadata.ValueFromIncomingContext(stream.Context(), muxconn.NodeKey))
	if node == "" {
		return status.Errorf(codes.InvalidArgument, "the metadata names no node in %q", muxconn.NodeKey)
	}
	session, err := muxconn.Client(stream, t.logger.With("node", node))
	if err != nil {
		return status.Errorf(codes.Internal, "open the tunnel of node %q: %v", node, err)
	}
	// Closing waits for a Send in progress, which our return ends: not before that,
	// and not much longer.
	defer func() { go session.Close() }()
	mine := &tunnel{
		id:         first(metadata.ValueFromIncomingContext(stream.Context(), muxconn.NodeIDKey)),
		session:    session,
		superseded: make(chan struct{}),
	}
	t.open(node, mine)
	defer t.forget(node, mine)
	select {
	case <-stream.Context().Done():
		return stream.Context().Err()
	case <-mine.superseded:
		return status.Errorf(codes.Aborted, "a newer tunnel of node %q has taken over", node)
	case <-session.CloseChan():
		return status.Errorf(codes.Aborted, "the tunnel of node %q has ended", node)
	}
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

func (t *Tunnels) open(node string, mine *tunnel) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if older := t.tunnels.add(node, mine); older != nil {
		close(older.superseded)
	}
	close(t.opened)
	t.opened = make(chan struct{})
}

func (t *Tunnels) forget(node string, gone *tunnel) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tunnels.remove(node, gone)
}

// Dial opens a stream to the node's agent, which speaks HTTP/1.1 on it. If no
// agent is there it fails, within a second, with a ServiceUnavailable Status
// error that says since when.
func (t *Tunnels) Dial(ctx context.Context, node string) (net.Conn, error) {
	timeout := time.NewTimer(reconnectWait)
	defer timeout.Stop()
	for {
		tunnel, opened := t.tunnel(node)
		if tunnel != nil {
			if conn, err := tunnel.session.Open(); err == nil {
				return conn, nil
			}
			t.forget(node, tunnel)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-timeout.C:
			return nil, t.gone(node)
		case <-opened:
		}
	}
}

// tunnel returns that of the node's agent, and a channel that is closed when there
// may be another.
func (t *Tunnels) tunnel(node string) (*tunnel, <-chan struct{}) {
	id, known := t.liveness.Agent(node)
	t.mu.Lock()
	defer t.mu.Unlock()
	if !known {
		return t.tunnels.newest(node), t.opened
	}
	return t.tunnels.of(node, id), t.opened
}

// Transport returns a transport whose every request goes to the node's agent,
// whatever host it names.
func (t *Tunnels) Transport(node string) http.RoundTripper {
	return &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return t.Dial(ctx, node)
		},
		DisableKeepAlives:  true,
		DisableCompression: true,
	}
}

// gone words the absence of a node's agent.
func (t *Tunnels) gone(node string) error {
	seen, ok := t.liveness.LastSeen(node)
	if !ok {
		return apierrors.NewServiceUnavailable(fmt.Sprintf("node %q is not connected, and has not been since the server started", node))
	}
	return apierrors.NewServiceUnavailable(fmt.Sprintf("node %q is not connected: its agent was last heard of at %s, %s ago",
		node, seen.UTC().Format(time.RFC3339), time.Since(seen).Round(time.Second)))
}
