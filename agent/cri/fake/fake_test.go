// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package fake

import (
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/cri"
	"github.com/berth-run/berth/agent/cri/fault"
)

func newPod(t *testing.T, c *cri.Client) (sandbox, container string) {
	t.Helper()
	s, err := c.Runtime.RunPodSandbox(t.Context(), &runtimeapi.RunPodSandboxRequest{Config: &runtimeapi.PodSandboxConfig{
		Metadata: &runtimeapi.PodSandboxMetadata{Name: "pod", Uid: "uid"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	k, err := c.Runtime.CreateContainer(t.Context(), createRequest(s.GetPodSandboxId(), "image:1"))
	if err != nil {
		t.Fatal(err)
	}
	return s.GetPodSandboxId(), k.GetContainerId()
}

func createRequest(sandbox, image string) *runtimeapi.CreateContainerRequest {
	return &runtimeapi.CreateContainerRequest{PodSandboxId: sandbox, Config: &runtimeapi.ContainerConfig{
		Metadata: &runtimeapi.ContainerMetadata{Name: "c"}, Image: &runtimeapi.ImageSpec{Image: image},
	}}
}

func containerStatus(t *testing.T, c *cri.Client, id string) *runtimeapi.ContainerStatus {
	t.Helper()
	r, err := c.Runtime.ContainerStatus(t.Context(), &runtimeapi.ContainerStatusRequest{ContainerId: id})
	if err != nil {
		t.Fatal(err)
	}
	return r.GetStatus()
}

func TestContainerLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New("image:1")
		r.Script("c", Process{Exits: true, ExitAfter: time.Minute, Exit: Exit{Code: 2}})
		c := r.Client()
		_, id := newPod(t, c)
		start := &runtimeapi.StartContainerRequest{ContainerId: id}
		if _, err := c.Runtime.StartContainer(t.Context(), start); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Runtime.StartContainer(t.Context(), start); err == nil {
			t.Error("a running container was started")
		}
		if s := containerStatus(t, c, id); s.GetState() != runtimeapi.ContainerState_CONTAINER_RUNNING {
			t.Errorf("started: %v", s)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		s := containerStatus(t, c, id)
		if s.GetState() != runtimeapi.ContainerState_CONTAINER_EXITED || s.GetExitCode() != 2 || s.GetReason() != "Error" {
			t.Errorf("ended: %v", s)
		}
		if ran := s.GetFinishedAt() - s.GetStartedAt(); ran != int64(time.Minute) {
			t.Errorf("ran for %s", time.Duration(ran))
		}
	})
}

func TestNamesAreTakenUntilRemoved(t *testing.T) {
	r := New("image:1")
	c := r.Client()
	sandbox, id := newPod(t, c)
	create := createRequest(sandbox, "image:1")
	if _, err := c.Runtime.CreateContainer(t.Context(), create); err == nil {
		t.Error("two containers of one name")
	}
	if _, err := c.Runtime.RemoveContainer(t.Context(), &runtimeapi.RemoveContainerRequest{ContainerId: id}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Runtime.CreateContainer(t.Context(), create); err != nil {
		t.Error(err)
	}
	if _, err := c.Runtime.CreateContainer(t.Context(), createRequest(sandbox, "absent:1")); status.Code(err) != codes.NotFound {
		t.Errorf("from an absent image: %v", err)
	}
}

func TestRemovedSandboxTakesItsContainers(t *testing.T) {
	r := New("image:1")
	c := r.Client()
	sandbox, id := newPod(t, c)
	for range 2 { // it is idempotent
		if _, err := c.Runtime.RemovePodSandbox(t.Context(), &runtimeapi.RemovePodSandboxRequest{PodSandboxId: sandbox}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Runtime.ContainerStatus(t.Context(), &runtimeapi.ContainerStatusRequest{ContainerId: id}); !cri.IsNotFound(err) {
		t.Errorf("its container: %v", err)
	}
}

// Neither side sees what the other does to a message after the call.
func TestMessagesAreCopied(t *testing.T) {
	r := New("image:1")
	c := r.Client()
	sandbox, _ := newPod(t, c)
	query := &runtimeapi.PodSandboxStatusRequest{PodSandboxId: sandbox}
	first, err := c.Runtime.PodSandboxStatus(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	first.GetStatus().GetMetadata().Name = "changed"
	second, err := c.Runtime.PodSandboxStatus(t.Context(), query)
	if err != nil || second.GetStatus().GetMetadata().GetName() != "pod" {
		t.Errorf("status: %v, %v", second, err)
	}
	query.PodSandboxId = "changed"
	calls := r.Calls("PodSandboxStatus")
	if len(calls) != 2 || !proto.Equal(calls[0].Request, &runtimeapi.PodSandboxStatusRequest{PodSandboxId: sandbox}) {
		t.Errorf("calls: %v", calls)
	}
}

func TestHungCallEndsByItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New()
		r.Faults.Add(fault.Rule{Method: "Version", Hang: true})
		start := time.Now()
		_, err := r.Client().Runtime.Version(t.Context(), &runtimeapi.VersionRequest{})
		if status.Code(err) != codes.DeadlineExceeded || time.Since(start) != 2*time.Minute {
			t.Errorf("after %s: %v", time.Since(start), err)
		}
	})
}
