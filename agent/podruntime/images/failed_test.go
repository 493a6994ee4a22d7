// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"context"
	"errors"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// refusing pulls nothing, in containerd's words.
type refusing struct{ runtimeapi.ImageServiceClient }

func (refusing) PullImage(context.Context, *runtimeapi.PullImageRequest, ...grpc.CallOption) (*runtimeapi.PullImageResponse, error) {
	return nil, status.Error(codes.NotFound, `Head "http://127.0.0.1:5000/v2/app/manifests/1?ns=%5BREDACTED%5D": not found`)
}

func (refusing) ImageStatus(context.Context, *runtimeapi.ImageStatusRequest, ...grpc.CallOption) (*runtimeapi.ImageStatusResponse, error) {
	return &runtimeapi.ImageStatusResponse{}, nil
}

// messages keeps what users are told by events.
type messages []string

func (m *messages) Record(_ *corev1.Pod, _, _, reason, message string) {
	*m = append(*m, reason+": "+message)
}

func TestAPullErrorReadsAsTheRegistryMeantIt(t *testing.T) {
	var told messages
	m := New(Config{Client: refusing{}, Recorder: &told})
	_, err := m.Ensure(t.Context(), request("uid-1", "registry.test/app:1", corev1.PullAlways))
	const want = `cannot pull image "registry.test/app:1": Head "http://127.0.0.1:5000/v2/app/manifests/1": not found`
	if e := (*Error)(nil); !errors.As(err, &e) || e.Message != want {
		t.Errorf("the container waits for %v", err)
	}
	if got := told[len(told)-1]; got != "Failed: "+want {
		t.Errorf("the event says %s", got)
	}
}
