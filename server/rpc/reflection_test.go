// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// dynamicClient knows nothing of berth but what reflection tells it, as grpcurl.
type dynamicClient struct {
	t      *testing.T
	conn   *grpc.ClientConn
	stream grpc.BidiStreamingClient[reflectionpb.ServerReflectionRequest, reflectionpb.ServerReflectionResponse]
	files  map[string]*descriptorpb.FileDescriptorProto
}

func newDynamicClient(t *testing.T, conn *grpc.ClientConn) *dynamicClient {
	t.Helper()
	stream, err := reflectionpb.NewServerReflectionClient(conn).ServerReflectionInfo(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	return &dynamicClient{t: t, conn: conn, stream: stream, files: map[string]*descriptorpb.FileDescriptorProto{}}
}

func (c *dynamicClient) ask(req *reflectionpb.ServerReflectionRequest) *reflectionpb.ServerReflectionResponse {
	c.t.Helper()
	if err := c.stream.Send(req); err != nil {
		c.t.Fatal(err)
	}
	resp, err := c.stream.Recv()
	if err != nil {
		c.t.Fatal(err)
	}
	return resp
}

func (c *dynamicClient) services() []string {
	resp := c.ask(&reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{}})
	var names []string
	for _, s := range resp.GetListServicesResponse().GetService() {
		names = append(names, s.GetName())
	}
	return names
}

// service fetches the files that describe a service; what they import comes with
// the first of them only.
func (c *dynamicClient) service(name string) protoreflect.ServiceDescriptor {
	c.t.Helper()
	resp := c.ask(&reflectionpb.ServerReflectionRequest{
		MessageRequest: &reflectionpb.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: name}})
	for _, raw := range resp.GetFileDescriptorResponse().GetFileDescriptorProto() {
		f := &descriptorpb.FileDescriptorProto{}
		if err := proto.Unmarshal(raw, f); err != nil {
			c.t.Fatal(err)
		}
		c.files[f.GetName()] = f
	}
	set := &descriptorpb.FileDescriptorSet{File: slices.Collect(maps.Values(c.files))}
	files, err := protodesc.NewFiles(set)
	if err != nil {
		c.t.Fatal(err)
	}
	d, err := files.FindDescriptorByName(protoreflect.FullName(name))
	if err != nil {
		c.t.Fatal(err)
	}
	return d.(protoreflect.ServiceDescriptor)
}

// call invokes a method with a request in JSON and returns its answer in JSON.
func (c *dynamicClient) call(ctx context.Context, service, method, request string) (string, error) {
	m := c.service(service).Methods().ByName(protoreflect.Name(method))
	in, out := dynamicpb.NewMessage(m.Input()), dynamicpb.NewMessage(m.Output())
	if err := protojson.Unmarshal([]byte(request), in); err != nil {
		return "", err
	}
	if err := c.conn.Invoke(ctx, "/"+service+"/"+method, in, out); err != nil {
		return "", err
	}
	answer, err := protojson.Marshal(out)
	return string(answer), err
}

// TestPastedManifest does what a user of grpcurl does: list, describe, and create
// from a manifest with a volume and env pasted as it is.
func TestPastedManifest(t *testing.T) {
	c := newDynamicClient(t, dial(t, New(newRegistry(t), logs{}, Options{})))
	if got := strings.Join(c.services(), " "); !strings.Contains(got, "berth.api.v1.Pods") || !strings.Contains(got, "grpc.health.v1.Health") {
		t.Errorf("services: %s", got)
	}
	ctx := testContext(t)
	if _, err := c.call(ctx, "berth.api.v1.Pods", "Create", `{"manifest": {
		"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pasted"},
		"spec": {"volumes": [{"name": "d", "emptyDir": {}}],
			"containers": [{"name": "c", "image": "nginx:1.14.2",
				"env": [{"name": "A", "value": "b"}, {"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
				"volumeMounts": [{"name": "d", "mountPath": "/d"}]}]}}}`); err != nil {
		t.Fatal(err)
	}
	got, err := c.call(ctx, "berth.api.v1.Pods", "Get", `{"name": "pasted", "asManifest": true}`)
	if err != nil {
		t.Fatal(err)
	}
	got = strings.ReplaceAll(got, " ", "")
	for _, want := range []string{`"emptyDir":{}`, `"fieldPath":"metadata.name"`, `"mountPath":"/d"`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}
