// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	nodepb "github.com/berth-run/berth/proto/berth/node/v1"
)

// WatchNode shows the PodUpdates of a node as an agent that held nothing would
// get them. It takes no session.
func (d *Dispatcher) WatchNode(req *nodepb.WatchNodeRequest, stream grpc.ServerStreamingServer[nodepb.WatchNodeReply]) error {
	if req.GetNode() == "" {
		return status.Error(codes.InvalidArgument, "the request names no node")
	}
	ctx := stream.Context()
	if err := d.index.wait(ctx); err != nil {
		return status.FromContextError(err).Err()
	}
	reader := &differ{
		node:     req.GetNode(),
		index:    d.index,
		follower: newFollower(),
		held:     newHolding(),
		logger:   d.logger.With("node", req.GetNode()),
		sendPods: func(u *nodepb.PodUpdate) error {
			return stream.Send(&nodepb.WatchNodeReply{Message: &nodepb.WatchNodeReply_PodUpdate{PodUpdate: u}})
		},
		sendObjects: func(*nodepb.Objects) error { return nil },
	}
	defer reader.end()
	if err := reader.begin(false); err != nil {
		return err
	}
	if err := stream.Send(&nodepb.WatchNodeReply{Message: &nodepb.WatchNodeReply_Synced{Synced: &nodepb.Synced{}}}); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return status.FromContextError(ctx.Err()).Err()
		case <-reader.follower.wake:
			if err := reader.next(); err != nil {
				return err
			}
		}
	}
}
