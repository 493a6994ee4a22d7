// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"context"
	"fmt"
	"time"

	versionapi "github.com/containerd/containerd/api/services/version/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// pollInterval is how often containerd is asked again for what it does not announce.
const pollInterval = 10 * time.Millisecond

// Ready waits until containerd serves and says that it can run pods. Whether pods
// get a network is the CRI status's NetworkReady, not this.
func (r *Runtime) Ready(ctx context.Context) error {
	conn, err := r.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	client := runtimeapi.NewRuntimeServiceClient(conn)
	err = poll(ctx, func() (bool, error) {
		reply, err := client.Status(ctx, &runtimeapi.StatusRequest{}, grpc.WaitForReady(true))
		if status.Code(err) == codes.Unavailable {
			return false, nil
		}
		return err == nil && runtimeReady(reply), err
	})
	if err != nil {
		return fmt.Errorf("containerd at %s is not ready, see %s: %w", r.Endpoint(), r.logFile(), err)
	}
	return nil
}

func runtimeReady(reply *runtimeapi.StatusResponse) bool {
	for _, c := range reply.GetStatus().GetConditions() {
		if c.GetType() == runtimeapi.RuntimeReady {
			return c.GetStatus()
		}
	}
	return false
}

// answers waits until the process serves containerd's API, or has ended.
func (r *Runtime) answers(ctx context.Context, h *handle) error {
	conn, err := r.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	client := versionapi.NewVersionClient(conn)
	return poll(ctx, func() (bool, error) {
		_, err := client.Version(ctx, &emptypb.Empty{})
		return err == nil || !h.alive(), nil
	})
}

// dial connects in the background. containerd is up within some 30 ms, so a refused
// connection is tried again soon.
func (r *Runtime) dial() (*grpc.ClientConn, error) {
	return grpc.NewClient(r.Endpoint(),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: pollInterval, Multiplier: 1.5, MaxDelay: time.Second},
			MinConnectTimeout: time.Second,
		}))
}

// poll asks until the answer is true, an error, or the context's end.
func poll(ctx context.Context, ask func() (bool, error)) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		if done, err := ask(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
