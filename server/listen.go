// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
)

// drainTime bounds how long requests under way may go on when the server ends.
// Watches and sessions never end by themselves.
const drainTime = time.Second

// listener is an open socket and what serves it.
type listener struct {
	name  string
	serve func(net.Listener) error
	net.Listener
	serving atomic.Bool
}

func (l *listener) run() error {
	l.serving.Store(true)
	defer l.serving.Store(false)
	err := l.serve(l.Listener)
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, grpc.ErrServerStopped) {
		return nil
	}
	return fmt.Errorf("%s listener: %w", l.name, err)
}

func (s *Server) listen() error {
	if err := s.open("REST", "tcp", s.cfg.HTTP, s.http.Serve); err != nil {
		return err
	}
	if err := s.open("gRPC", "tcp", s.cfg.GRPC, s.grpc.Serve); err != nil {
		return err
	}
	return s.openSocket()
}

func (s *Server) open(name, network, address string, serve func(net.Listener) error) error {
	if address == "" {
		return nil
	}
	l, err := net.Listen(network, address)
	if err != nil {
		return fmt.Errorf("%s listener: %w; stop what has the address, or choose another", name, err)
	}
	s.listeners = append(s.listeners, &listener{name: name, serve: serve, Listener: l})
	return nil
}

// openSocket listens on the unix socket, which only its owner may use. A socket
// that a killed server left is taken over; one that is served is not.
func (s *Server) openSocket() error {
	path := s.cfg.Socket
	if path == "" {
		return nil
	}
	if conn, err := net.Dial("unix", path); err == nil {
		conn.Close()
		return fmt.Errorf("socket %s: another server listens there", path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("socket: %w", err)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("socket: %w", err)
	}
	if err := s.open("socket", "unix", path, s.grpc.Serve); err != nil {
		return err
	}
	return os.Chmod(path, 0o600)
}

// serve serves all listeners until ctx ends.
func (s *Server) serve(ctx context.Context) error {
	var g errgroup.Group
	failed, cancel := context.WithCancel(ctx)
	defer cancel()
	requests, endRequests := context.WithCancel(context.Background())
	defer endRequests()
	s.http.BaseContext = func(net.Listener) context.Context { return requests }

	for _, l := range s.listeners {
		g.Go(func() error {
			defer cancel()
			return l.run()
		})
	}
	g.Go(func() error {
		<-failed.Done()
		s.shutdown.Store(true)
		endRequests()
		s.drain()
		return nil
	})
	err := g.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// drain ends both servers, with a moment for what is under way.
func (s *Server) drain() {
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	stop := context.AfterFunc(ctx, s.grpc.Stop)
	defer stop()
	if s.http.Shutdown(ctx) != nil {
		s.http.Close()
	}
	s.grpc.GracefulStop()
}
