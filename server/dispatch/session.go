// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/api"
	nodepb "github.com/berth-run/berth/proto/berth/node/v1"
	"github.com/berth-run/berth/server/apierror"
)

// helloWithin is how long an agent may take to say who it is.
const helloWithin = 10 * time.Second

type sessionStream = grpc.BidiStreamingServer[nodepb.AgentMessage, nodepb.ServerMessage]

// Session serves an agent's session; see the protocol's own words in node.proto.
//
// Three goroutines: receive reads the stream, this one handles what it reads,
// and sender alone writes. gRPC ends the two that use the stream when this
// returns, as nothing else can interrupt them.
func (d *Dispatcher) Session(stream sessionStream) error {
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	inbox := make(chan *nodepb.AgentMessage)
	failed := make(chan error, 2)
	go receive(ctx, stream, inbox, failed)

	hello, node, err := receiveHello(ctx, inbox, failed)
	if err != nil {
		return err
	}
	who := agent{node: node.Name, id: hello.GetNodeId(), address: addressOf(ctx)}
	sessionCtx, mine, end, err := d.sessions.begin(ctx, who)
	if err != nil {
		return d.refuse(ctx, who, err)
	}
	ctx = sessionCtx
	defer end()
	if node, err = d.register(ctx, mine, node); err != nil {
		return d.ended(ctx, err)
	}
	defer d.nodes.Connect(node.Name, who.id)()
	if err := d.index.wait(ctx); err != nil {
		return d.ended(ctx, err)
	}
	s := d.newSession(stream, hello, node)
	s.logger.Info("session begins", "id", who.id, "address", who.address, "agentVersion", hello.GetAgentVersion())
	err = d.ended(ctx, s.run(ctx, inbox, failed))
	s.logger.Info("session ends", "err", err)
	return err
}

// ended returns the status that a session ends with.
func (d *Dispatcher) ended(ctx context.Context, err error) error {
	switch {
	case errors.Is(context.Cause(ctx), errNewer):
		return status.Error(codes.Aborted, errNewer.Error())
	case errors.Is(context.Cause(ctx), errUnregistered):
		return status.Error(codes.Unavailable, errUnregistered.Error())
	case errors.Is(err, io.EOF):
		return nil
	}
	return apierror.ToGRPC(err)
}

// receive reads the stream until it breaks or ctx ends.
func receive(ctx context.Context, stream sessionStream, inbox chan<- *nodepb.AgentMessage, failed chan<- error) {
	for {
		m, err := stream.Recv()
		if err != nil {
			failed <- err
			return
		}
		select {
		case inbox <- m:
		case <-ctx.Done():
			return
		}
	}
}

func receiveHello(ctx context.Context, inbox <-chan *nodepb.AgentMessage, failed <-chan error) (*nodepb.Hello, *corev1.Node, error) {
	select {
	case m := <-inbox:
		hello := m.GetHello()
		if hello == nil {
			return nil, nil, status.Error(codes.InvalidArgument, "a session begins with Hello")
		}
		obj, err := api.ToObject(api.Nodes, hello.GetNode())
		if err != nil {
			return nil, nil, apierror.ToGRPC(err)
		}
		return hello, obj.(*corev1.Node), nil
	case err := <-failed:
		return nil, nil, err
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	case <-time.After(helloWithin):
		return nil, nil, status.Errorf(codes.DeadlineExceeded, "no Hello came within %v", helloWithin)
	}
}

// session is one agent's, after its Hello.
type session struct {
	dispatcher *Dispatcher
	stream     sessionStream
	node       *corev1.Node
	logger     *slog.Logger
	// foreign: what the agent holds came from another store.
	foreign bool

	// inventory is what the agent has said so far, and complete brings all of it
	// to the sender.
	inventory *holding
	complete  chan holding

	follower *follower
	reports  *applier
	acks     *acks
	events   *eventWriter
}

func (d *Dispatcher) newSession(stream sessionStream, hello *nodepb.Hello, node *corev1.Node) *session {
	inventory := newHolding()
	s := &session{
		dispatcher: d,
		stream:     stream,
		node:       node,
		logger:     d.logger.With("node", node.Name),
		foreign:    hello.GetStoreId() != "" && hello.GetStoreId() != d.options.StoreID,
		inventory:  &inventory,
		complete:   make(chan holding, 1),
		follower:   newFollower(),
		events:     newEventWriter(d.options.Events, d.logger),
	}
	s.acks = newAcks(s.follower.wake)
	s.reports = newApplier(func(ctx context.Context, r *nodepb.PodStatusReport) (bool, error) {
		return d.applyStatus(ctx, node.Name, r)
	}, s.acks.add)
	return s
}

// run serves the session until the stream breaks or ctx ends. When it returns,
// nothing that the agent sent is worked on any more.
func (s *session) run(ctx context.Context, inbox <-chan *nodepb.AgentMessage, failed chan error) error {
	ctx, cancel := context.WithCancel(ctx)
	go func() { failed <- s.send(ctx) }()
	defer s.events.wait()
	defer s.reports.wait()
	defer cancel()
	for {
		select {
		case m := <-inbox:
			s.dispatcher.nodes.Heartbeat(s.node.Name)
			if err := s.handle(ctx, m); err != nil {
				return err
			}
		case err := <-failed:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// handle takes in one message. It does not wait for the store, but for what it
// says of the node itself.
func (s *session) handle(ctx context.Context, m *nodepb.AgentMessage) error {
	switch m := m.GetMessage().(type) {
	case *nodepb.AgentMessage_Inventory:
		return s.takeInventory(m.Inventory)
	case *nodepb.AgentMessage_PodStatus:
		s.reports.submit(ctx, m.PodStatus)
	case *nodepb.AgentMessage_NodeStatus:
		if err := s.dispatcher.updateNodeStatus(ctx, s.node.Name, m.NodeStatus); err != nil {
			s.logger.Warn("a node's status is not stored", "err", err)
		}
	case *nodepb.AgentMessage_Event:
		s.events.submit(ctx, m.Event)
	case *nodepb.AgentMessage_Heartbeat:
	default:
		return status.Errorf(codes.InvalidArgument, "unexpected message %T", m)
	}
	return nil
}

func (s *session) takeInventory(m *nodepb.Inventory) error {
	if s.inventory == nil {
		return status.Error(codes.InvalidArgument, "the inventory is complete already")
	}
	for _, key := range m.GetObjects() {
		if err := s.inventory.add(key); err != nil {
			return status.Errorf(codes.InvalidArgument, "inventory: %v", err)
		}
	}
	if m.GetDone() {
		s.complete <- *s.inventory
		s.inventory = nil
	}
	return nil
}
