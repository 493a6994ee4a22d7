// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"context"
	"fmt"
	"time"

	containersapi "github.com/containerd/containerd/api/services/containers/v1"
	sandboxapi "github.com/containerd/containerd/api/services/sandbox/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// Shims are compared with what containerd knows when it has started, and then at
// intervals that double from orphansSoon to orphansLate.
const (
	orphansSoon = 10 * time.Second
	orphansLate = 10 * time.Minute
)

// maxObjects bounds a listing of all that containerd knows, in bytes.
const maxObjects = 64 << 20

// watchOrphans ends the shims that a containerd does not know: one that was killed
// while it started a pod, or that lost its metadata, has left them, and nobody else
// ever ends them.
func (r *Runtime) watchOrphans(ctx context.Context, containerd process) {
	if err := r.Ready(ctx); err != nil {
		return
	}
	var suspects map[process]bool
	for pause := orphansSoon; ; pause = min(2*pause, orphansLate) {
		var err error
		if suspects, err = r.endOrphans(ctx, containerd, suspects); err != nil && ctx.Err() == nil {
			r.log.Warn("the shims cannot be compared with what containerd knows", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// endOrphans ends the shims that containerd will not come to know, and returns those
// that it did not know now. The processes are listed before its objects are, because
// it makes the object of a pod before its shim.
func (r *Runtime) endOrphans(ctx context.Context, containerd process, suspects map[process]bool) (map[process]bool, error) {
	shims := r.shims(listProcesses())
	if len(shims) == 0 {
		return nil, nil
	}
	known, err := r.known(ctx)
	if err != nil {
		return suspects, err
	}
	orphans, suspects := orphanShims(shims, known, containerd, suspects)
	for _, shim := range orphans {
		if err := r.endOrphan(ctx, shim, known); err != nil {
			return suspects, fmt.Errorf("end shim %d of %s: %w", shim.PID, shim.flag("-id"), err)
		}
	}
	return suspects, nil
}

// orphanShims picks the shims that containerd does not know and will not come to know:
// those older than itself, which it would have loaded, and those that it did not know
// at the last look either. The other unknown ones are suspects until the next look.
func orphanShims(shims []entry, known map[string]bool, containerd process, before map[process]bool) (orphans []entry, suspects map[process]bool) {
	suspects = map[process]bool{}
	for _, s := range shims {
		switch {
		case known[s.flag("-id")]:
		case s.StartTime < containerd.StartTime, before[s.process]:
			orphans = append(orphans, s)
		default:
			suspects[s.process] = true
		}
	}
	return orphans, suspects
}

// shims are those of the node's pods. Others may use its containerd too, in namespaces
// of their own.
func (r *Runtime) shims(all []entry) []entry {
	var shims []entry
	for _, e := range all {
		if r.isShim(e) && e.flag("-namespace") == criNamespace {
			shims = append(shims, e)
		}
	}
	return shims
}

// known are the ids of the containers and sandboxes that containerd has on record.
func (r *Runtime) known(ctx context.Context) (map[string]bool, error) {
	conn, err := r.dial()
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	ctx = metadata.AppendToOutgoingContext(ctx, "containerd-namespace", criNamespace)
	large := grpc.MaxCallRecvMsgSize(maxObjects)
	containers, err := containersapi.NewContainersClient(conn).List(ctx, &containersapi.ListContainersRequest{}, large)
	if err != nil {
		return nil, fmt.Errorf("list containers: %w", err)
	}
	sandboxes, err := sandboxapi.NewStoreClient(conn).List(ctx, &sandboxapi.StoreListRequest{}, large)
	if err != nil {
		return nil, fmt.Errorf("list sandboxes: %w", err)
	}
	known := map[string]bool{}
	for _, c := range containers.GetContainers() {
		known[c.GetID()] = true
	}
	for _, s := range sandboxes.GetList() {
		known[s.GetSandboxID()] = true
	}
	return known, nil
}
