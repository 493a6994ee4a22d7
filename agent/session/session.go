// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package session keeps the agent's connection to the server: desired state comes
// in through it, and what became of it goes back.
package session

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/api"
)

// NodeSource says how the node is.
type NodeSource interface {
	// Registration is what the agent itself says of the node.
	Registration() *corev1.Node
	// Changed has a token after each change of the node's status.
	Changed() <-chan struct{}
}

// Pods tells which pods a source has brought: the mux.
type Pods interface {
	Pods(source string) []*corev1.Pod
}

// Objects holds the Secrets and ConfigMaps that the server sends.
type Objects interface {
	All() []api.Object
	Set(o api.Object) error
	Remove(kind, namespace, name string)
}

// Statuses has the statuses to report: the status manager.
type Statuses interface {
	// Changed has a token when there is something to report.
	Changed() <-chan struct{}
	// Dirty returns the newest unacknowledged reports that were not handed out
	// since Resend.
	Dirty() []podtypes.StatusReport
	// Ack notes that the server has dealt with a report.
	Ack(uid types.UID, version uint64)
	// Resend makes all unacknowledged reports dirty again: a session begins.
	Resend()
}

// Config is what a Client needs.
type Config struct {
	// Target and DialOptions are those of grpc.NewClient.
	Target      string
	DialOptions []grpc.DialOption

	Node NodeSource
	// NodeID tells this agent from others that were given the node's name.
	NodeID   string
	Pods     Pods
	Objects  Objects
	Statuses Statuses
	// Events to pass on. They are read only while there is a session.
	Events <-chan *corev1.Event
	// Updates takes the server's pods: the mux's channel for ServerSource.
	Updates chan<- podtypes.PodUpdate
	// OnWelcome, unless nil, gets the node as the server has it at the start of
	// each session. It must not block.
	OnWelcome func(*corev1.Node)

	// StoreFile remembers which store the node's pods came from.
	StoreFile string
	Version   string
	// HeartbeatEvery is 10 s if 0.
	HeartbeatEvery time.Duration
	// MaxBackoff bounds the wait between two attempts to connect; 5 s if 0.
	MaxBackoff time.Duration
	Logger     *slog.Logger
}

// Client keeps a session with the server.
type Client struct {
	config    Config
	connected atomic.Bool
}

// New returns a Client that Run starts.
func New(config Config) *Client {
	if config.HeartbeatEvery == 0 {
		config.HeartbeatEvery = 10 * time.Second
	}
	if config.MaxBackoff == 0 {
		config.MaxBackoff = 5 * time.Second
	}
	return &Client{config: config}
}

// Connected tells whether the server has answered in the present session.
func (c *Client) Connected() bool { return c.connected.Load() }

// Run keeps a session open until ctx ends; one that breaks is begun anew, at
// first at once and then ever more slowly. A broken session changes nothing on
// the node.
func (c *Client) Run(ctx context.Context) error {
	backoff := c.backoff()
	for {
		welcomed, err := c.serve(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if welcomed {
			backoff = c.backoff()
		}
		delay := backoff.Step()
		level := slog.LevelWarn
		switch status.Code(err) {
		case codes.AlreadyExists:
			level = slog.LevelError // until an operator does something
		case codes.Aborted:
			// Two agents of one id, as of a machine and its copy, would otherwise end
			// each other without pause.
			delay = c.config.MaxBackoff
		}
		c.config.Logger.Log(ctx, level, "there is no session with the server", "err", err, "retry", delay)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(delay):
		}
	}
}

// backoff begins at 100 to 200 ms, and its jitter may double the last wait too.
func (c *Client) backoff() wait.Backoff {
	return wait.Backoff{Duration: 100 * time.Millisecond, Factor: 2, Jitter: 1, Steps: 16, Cap: c.config.MaxBackoff / 2}
}
