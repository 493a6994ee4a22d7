// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"context"
	"sync"

	"github.com/berth-run/berth/api"
	corepb "github.com/berth-run/berth/proto/berth/core/v1"
	nodepb "github.com/berth-run/berth/proto/berth/node/v1"
)

// send writes to the agent until the stream breaks or ctx ends: Welcome, then,
// once the inventory is complete, what differs and Synced, then what changes;
// acknowledgements at any time.
func (s *session) send(ctx context.Context) error {
	if err := s.welcome(); err != nil {
		return err
	}
	var d *differ
	defer func() {
		if d != nil {
			d.end()
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case held := <-s.complete:
			d = s.newDiffer(held)
			if err := d.begin(s.foreign); err != nil {
				return err
			}
			if err := s.stream.Send(syncedMessage()); err != nil {
				return err
			}
		case <-s.follower.wake:
			if err := s.sendAcks(); err != nil {
				return err
			}
			if d == nil {
				continue
			}
			if err := d.next(); err != nil {
				return err
			}
		}
	}
}

func (s *session) welcome() error {
	node := &corepb.Node{}
	if err := api.FromObject(s.node, node); err != nil {
		return err
	}
	return s.stream.Send(&nodepb.ServerMessage{Message: &nodepb.ServerMessage_Welcome{Welcome: &nodepb.Welcome{
		StoreId:       s.dispatcher.options.StoreID,
		ServerVersion: s.dispatcher.options.Version,
		Node:          node,
	}}})
}

func (s *session) newDiffer(held holding) *differ {
	return &differ{
		node:     s.node.Name,
		index:    s.dispatcher.index,
		follower: s.follower,
		held:     held,
		logger:   s.logger,
		sendPods: func(u *nodepb.PodUpdate) error {
			s.dispatcher.countSent(u)
			return s.stream.Send(&nodepb.ServerMessage{Message: &nodepb.ServerMessage_PodUpdate{PodUpdate: u}})
		},
		sendObjects: func(o *nodepb.Objects) error {
			return s.stream.Send(&nodepb.ServerMessage{Message: &nodepb.ServerMessage_Objects{Objects: o}})
		},
		removed: s.reports.forget,
	}
}

func syncedMessage() *nodepb.ServerMessage {
	return &nodepb.ServerMessage{Message: &nodepb.ServerMessage_Synced{Synced: &nodepb.Synced{}}}
}

func (s *session) sendAcks() error {
	for _, ack := range s.acks.take() {
		if err := s.stream.Send(&nodepb.ServerMessage{Message: &nodepb.ServerMessage_StatusAck{StatusAck: ack}}); err != nil {
			return err
		}
	}
	return nil
}

// acks holds the acknowledgements to send, the newest of each pod.
type acks struct {
	wake chan struct{}

	mu   sync.Mutex
	pods map[string]*nodepb.StatusAck
}

func newAcks(wake chan struct{}) *acks {
	return &acks{wake: wake, pods: map[string]*nodepb.StatusAck{}}
}

func (a *acks) add(ack *nodepb.StatusAck) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if have := a.pods[ack.GetUid()]; have == nil || have.GetVersion() < ack.GetVersion() {
		a.pods[ack.GetUid()] = ack
	}
	signal(a.wake)
}

func (a *acks) take() []*nodepb.StatusAck {
	a.mu.Lock()
	defer a.mu.Unlock()
	taken := make([]*nodepb.StatusAck, 0, len(a.pods))
	for _, ack := range a.pods {
		taken = append(taken, ack)
	}
	clear(a.pods)
	return taken
}
