// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"context"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/cri"
	"github.com/berth-run/berth/agent/cri/fault"
)

// runtime answers a few calls over a real socket.
type runtime struct {
	runtimeapi.UnimplementedRuntimeServiceServer
	started chan string
}

func (r *runtime) Version(_ context.Context, q *runtimeapi.VersionRequest) (*runtimeapi.VersionResponse, error) {
	if q.GetVersion() == "bad" {
		return nil, status.Error(codes.OutOfRange, "no such version")
	}
	return &runtimeapi.VersionResponse{RuntimeName: "test", RuntimeVersion: strings.Repeat("x", 1<<20)}, nil
}

func (r *runtime) StartContainer(_ context.Context, q *runtimeapi.StartContainerRequest) (*runtimeapi.StartContainerResponse, error) {
	r.started <- q.GetContainerId()
	return &runtimeapi.StartContainerResponse{}, nil
}

func (r *runtime) GetContainerEvents(_ *runtimeapi.GetEventsRequest, s grpc.ServerStreamingServer[runtimeapi.ContainerEventResponse]) error {
	for _, id := range []string{"1", "2"} {
		if err := s.Send(&runtimeapi.ContainerEventResponse{ContainerId: id}); err != nil {
			return err
		}
	}
	<-s.Context().Done()
	return s.Context().Err()
}

// start returns a client of the runtime by way of the proxy.
func start(t *testing.T, r *runtime, script *fault.Script) *cri.Client {
	t.Helper()
	dir := t.TempDir()
	listener, err := net.Listen("unix", filepath.Join(dir, "runtime.sock"))
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	runtimeapi.RegisterRuntimeServiceServer(server, r)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()

	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan struct{}), make(chan error, 1)
	socket := filepath.Join(dir, "proxy.sock")
	go func() { ended <- Run(ctx, socket, filepath.Join(dir, "runtime.sock"), script, ready) }()
	<-ready
	c, err := cri.Dial(socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return c
}

func TestProxyCarriesCalls(t *testing.T) {
	c := start(t, &runtime{}, &fault.Script{})
	r, err := c.Runtime.Version(t.Context(), &runtimeapi.VersionRequest{})
	if err != nil || r.GetRuntimeName() != "test" || len(r.GetRuntimeVersion()) != 1<<20 {
		t.Errorf("reply of %d bytes, %v", proto.Size(r), err)
	}
	_, err = c.Runtime.Version(t.Context(), &runtimeapi.VersionRequest{Version: "bad"})
	if s := status.Convert(err); s.Code() != codes.OutOfRange || s.Message() != "no such version" {
		t.Errorf("error: %v", err)
	}
	if _, err := c.Images.ListImages(t.Context(), &runtimeapi.ListImagesRequest{}); status.Code(err) != codes.Unimplemented {
		t.Errorf("a service that is not there: %v", err)
	}
}

func TestProxyCarriesStreams(t *testing.T) {
	c := start(t, &runtime{}, &fault.Script{})
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := c.Runtime.GetContainerEvents(ctx, &runtimeapi.GetEventsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1", "2"} {
		if e, err := stream.Recv(); err != nil || e.GetContainerId() != want {
			t.Errorf("event %v, %v; want %s", e, err, want)
		}
	}
	cancel()
	if _, err := stream.Recv(); status.Code(err) != codes.Canceled {
		t.Errorf("after the end: %v", err)
	}
}

func TestProxyFollowsTheScript(t *testing.T) {
	script := &fault.Script{}
	script.Add(fault.Rule{Method: "StartContainer", Times: 1, Code: codes.Unavailable, Match: func(m proto.Message) bool {
		return m.(*runtimeapi.StartContainerRequest).GetContainerId() == "init"
	}})
	script.Add(fault.Rule{Method: "StartContainer", Times: 1, DropReply: true})
	script.Add(fault.Rule{Method: "Version", Hang: true})
	r := &runtime{started: make(chan string, 8)}
	c := start(t, r, script)
	startContainer := func(id string) codes.Code {
		_, err := c.Runtime.StartContainer(t.Context(), &runtimeapi.StartContainerRequest{ContainerId: id})
		return status.Code(err)
	}
	if got := startContainer("init"); got != codes.Unavailable || len(r.started) != 0 {
		t.Errorf("the failed call: %s, started %d", got, len(r.started))
	}
	if got := startContainer("lost"); got != codes.Unavailable || len(r.started) != 1 {
		t.Errorf("the call whose reply is dropped: %s, started %d", got, len(r.started))
	}
	if got := startContainer("init"); got != codes.OK || len(r.started) != 2 {
		t.Errorf("the call after: %s, started %d", got, len(r.started))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.Runtime.Version(ctx, &runtimeapi.VersionRequest{}); status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("the hung call: %v", err)
	}
}

func TestRunFailsWhereItCannotListen(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "absent", "proxy.sock")
	if err := Run(t.Context(), socket, "/nowhere.sock", &fault.Script{}, nil); err == nil || !strings.Contains(err.Error(), "proxy socket") {
		t.Errorf("error: %v", err)
	}
}
