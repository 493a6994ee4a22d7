// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
	apipb "github.com/berth-run/berth/proto/berth/api/v1"
	"github.com/berth-run/berth/server/registry"
)

// Bind writes the pod's node: what a scheduler does.
func (s *podService) Bind(ctx context.Context, req *apipb.BindPodRequest) (*apipb.BindPodReply, error) {
	binding, err := bindingOf(req)
	if err != nil {
		return nil, err
	}
	if err := s.reg.Bind(ctx, binding.Namespace, binding); err != nil {
		return nil, err
	}
	encoded, err := (&metav1.Status{Status: metav1.StatusSuccess, Code: 201}).Marshal()
	if err != nil {
		return nil, err
	}
	out := &apipb.BindPodReply{}
	setRaw(out, statusField, encoded)
	return out, nil
}

func bindingOf(req *apipb.BindPodRequest) (*corev1.Binding, error) {
	if req.GetBinding() == nil {
		return nil, apierrors.NewBadRequest("the request carries no Binding")
	}
	encoded, err := proto.Marshal(req.GetBinding())
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	b := &corev1.Binding{}
	if err := b.Unmarshal(encoded); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the Binding cannot be read: %v", err))
	}
	namespace, name := namespaceOf(api.Pods, req.GetNamespace(), b), nameOf(req.GetName(), b)
	if (b.Namespace != "" && b.Namespace != namespace) || (b.Name != "" && b.Name != name) {
		return nil, apierrors.NewBadRequest("the Binding's name or namespace does not match that of the request")
	}
	b.Namespace, b.Name = namespace, name
	return b, nil
}

// GetEphemeralContainers returns the pod: the containers that look into it come with
// the whole of it.
func (s *podService) GetEphemeralContainers(ctx context.Context, req *apipb.GetRequest) (*apipb.PodObject, error) {
	return s.Get(ctx, req)
}

// UpdateEphemeralContainers adds containers to a pod that look into it.
func (s *podService) UpdateEphemeralContainers(ctx context.Context, req *apipb.UpdatePodRequest) (*apipb.PodObject, error) {
	return s.update(ctx, req, func(ctx context.Context, _ *api.Kind, namespace, name string, obj api.Object, o registry.WriteOptions) (api.Object, []string, error) {
		return s.reg.UpdateEphemeralContainers(ctx, namespace, name, obj, o)
	})
}

// GetResize returns the pod: its resources come with the whole of it.
func (s *podService) GetResize(ctx context.Context, req *apipb.GetRequest) (*apipb.PodObject, error) {
	return s.Get(ctx, req)
}

// UpdateResize changes the resources of a pod that may be running.
func (s *podService) UpdateResize(ctx context.Context, req *apipb.UpdatePodRequest) (*apipb.PodObject, error) {
	return s.update(ctx, req, func(ctx context.Context, _ *api.Kind, namespace, name string, obj api.Object, o registry.WriteOptions) (api.Object, []string, error) {
		return s.reg.UpdateResize(ctx, namespace, name, obj, o)
	})
}

// logChunk is how much of a log one message carries at most.
const logChunk = 32 << 10

// Log streams what a container wrote.
func (s *podService) Log(req *apipb.PodLogRequest, stream grpc.ServerStreamingServer[apipb.PodLogChunk]) error {
	log, err := s.server.OpenLog(stream.Context(), req.GetNamespace(), req.GetName(), &corev1.PodLogOptions{
		Container:    req.GetContainer(),
		Follow:       req.GetFollow(),
		Previous:     req.GetPrevious(),
		Timestamps:   req.GetTimestamps(),
		TailLines:    req.TailLines,
		SinceSeconds: req.SinceSeconds,
		LimitBytes:   req.LimitBytes,
	})
	if err != nil {
		return err
	}
	defer log.Close()
	if err := stream.SendHeader(nil); err != nil {
		return err
	}
	for {
		data := make([]byte, logChunk) // a sent message belongs to its receiver
		n, err := log.Read(data)
		if n > 0 {
			if err := stream.Send(&apipb.PodLogChunk{Data: data[:n]}); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
