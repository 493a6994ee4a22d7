// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/berth-run/berth/api"
	apipb "github.com/berth-run/berth/proto/berth/api/v1"
	corepb "github.com/berth-run/berth/proto/berth/core/v1"
)

// client calls the service of any kind. The services differ in the names of their
// messages only, so it makes those by name.
type client struct {
	conn grpc.ClientConnInterface
}

func method(k *api.Kind, name string) string {
	return fmt.Sprintf("/berth.api.v1.%ss/%s", k.Name, name)
}

// newMessage makes the message of that name, such as PodObject.
func newMessage(name string) (proto.Message, error) {
	t, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName("berth.api.v1." + name))
	if err != nil {
		return nil, fmt.Errorf("message %s: %w", name, err)
	}
	return t.New().Interface(), nil
}

// call invokes a method that answers with one object, and returns it with the
// warnings that came along.
func (c *client) call(ctx context.Context, k *api.Kind, name string, request proto.Message) (api.Object, []string, error) {
	reply, err := newMessage(k.Name + "Object")
	if err != nil {
		return nil, nil, err
	}
	if err := c.conn.Invoke(ctx, method(k, name), request, reply); err != nil {
		return nil, nil, err
	}
	obj, err := api.ToObject(k, field(reply, k).Interface())
	return obj, warnings(reply), err
}

// field returns the object in a message of kind k, such as PodObject.pod.
func field(m proto.Message, k *api.Kind) protoreflect.Message {
	fields := m.ProtoReflect().Descriptor().Oneofs().ByName("object").Fields()
	for i := range fields.Len() {
		if f := fields.Get(i); string(f.Message().Name()) == k.Name {
			return m.ProtoReflect().Get(f).Message()
		}
	}
	return nil
}

func warnings(m proto.Message) []string {
	if w, ok := m.(interface{ GetWarnings() []string }); ok {
		return w.GetWarnings()
	}
	return nil
}

func (c *client) get(ctx context.Context, k *api.Kind, namespace, name string) (api.Object, error) {
	obj, _, err := c.call(ctx, k, "Get", &apipb.GetRequest{Namespace: namespace, Name: name})
	return obj, err
}

// at is an object, or its lack, and the version of the store at which it was so. A watch
// goes on from there: the object's own version may be older than what the server has
// of changes.
type at struct {
	obj     api.Object
	version string
}

// look reads an object that may not be there.
func (c *client) look(ctx context.Context, k *api.Kind, namespace, name string, options ...grpc.CallOption) (at, error) {
	request := &apipb.ListRequest{Namespace: namespace, FieldSelector: "metadata.name=" + name}
	items, version, err := c.list(ctx, k, request, options...)
	if err != nil || len(items) == 0 {
		return at{version: version}, err
	}
	return at{items[0], version}, nil
}

// pageSize is how many objects are asked for at once.
const pageSize = 500

// list returns the objects that match, page by page, and the version at which
// they stood.
func (c *client) list(ctx context.Context, k *api.Kind, request *apipb.ListRequest, options ...grpc.CallOption) ([]api.Object, string, error) {
	var out []api.Object
	request.Limit = pageSize
	for {
		reply, err := newMessage(k.Name + "ListObject")
		if err != nil {
			return nil, "", err
		}
		if err := c.conn.Invoke(ctx, method(k, "List"), request, reply, options...); err != nil {
			return nil, "", err
		}
		meta, items, err := decodeList(k, reply)
		if err != nil {
			return nil, "", err
		}
		out = append(out, items...)
		if meta.continueToken == "" {
			return out, meta.resourceVersion, nil
		}
		request.Continue = meta.continueToken
	}
}

type listMeta struct{ continueToken, resourceVersion string }

func decodeList(k *api.Kind, reply proto.Message) (listMeta, []api.Object, error) {
	list := reply.ProtoReflect().Get(reply.ProtoReflect().Descriptor().Fields().ByName("list")).Message()
	fields := list.Descriptor().Fields()
	metadata := list.Get(fields.ByName("metadata")).Message()
	text := func(name protoreflect.Name) string {
		return metadata.Get(metadata.Descriptor().Fields().ByName(name)).String()
	}
	meta := listMeta{continueToken: text("continue"), resourceVersion: text("resourceVersion")}

	items := list.Get(fields.ByName("items")).List()
	out := make([]api.Object, 0, items.Len())
	for i := range items.Len() {
		obj, err := api.ToObject(k, items.Get(i).Message().Interface())
		if err != nil {
			return listMeta{}, nil, err
		}
		out = append(out, obj)
	}
	return meta, out, nil
}

// write sends a manifest with Create or Update. validation says what becomes of
// its unknown fields.
func (c *client) write(ctx context.Context, k *api.Kind, verb, namespace, name, validation string, manifest *structpb.Struct) (api.Object, []string, error) {
	request, err := newMessage(verb + k.Name + "Request")
	if err != nil {
		return nil, nil, err
	}
	r := request.ProtoReflect()
	set := func(name protoreflect.Name, value protoreflect.Value) {
		if f := r.Descriptor().Fields().ByName(name); f != nil {
			r.Set(f, value)
		}
	}
	set("name", protoreflect.ValueOfString(name)) // what is created has its name in the manifest
	if k.Namespaced {
		set("namespace", protoreflect.ValueOfString(namespace))
	}
	set("field_validation", protoreflect.ValueOfString(validation))
	set("manifest", protoreflect.ValueOfMessage(manifest.ProtoReflect()))
	return c.call(ctx, k, verb, request)
}

func (c *client) delete(ctx context.Context, k *api.Kind, request *apipb.DeleteRequest) (api.Object, error) {
	obj, _, err := c.call(ctx, k, "Delete", request)
	return obj, err
}

// watch calls fn for every event until ctx ends, the server ends the watch, or fn
// fails. With a resourceVersion it begins after it, else with what exists.
func (c *client) watch(ctx context.Context, k *api.Kind, request *apipb.WatchRequest, fn func(watch.EventType, api.Object) error) error {
	desc := &grpc.StreamDesc{StreamName: "Watch", ServerStreams: true}
	stream, err := c.conn.NewStream(ctx, desc, method(k, "Watch"))
	if err != nil {
		return err
	}
	if err := errors.Join(stream.SendMsg(request), stream.CloseSend()); err != nil {
		return err
	}
	for {
		event, err := newMessage(k.Name + "WatchEvent")
		if err != nil {
			return err
		}
		switch err := stream.RecvMsg(event); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := deliver(k, event, fn); err != nil {
			return err
		}
	}
}

func deliver(k *api.Kind, event proto.Message, fn func(watch.EventType, api.Object) error) error {
	kind := watch.EventType(event.(interface{ GetType() string }).GetType())
	switch kind {
	case watch.Bookmark:
		return nil
	case watch.Error:
		return &watchEnded{event.(interface{ GetStatus() *corepb.Status }).GetStatus().GetMessage()}
	}
	obj, err := api.ToObject(k, field(event, k).Interface())
	if err != nil {
		return err
	}
	return fn(kind, obj)
}

// watchEnded says why the server has ended a watch, such as that its changes go no
// further back.
type watchEnded struct{ message string }

func (e *watchEnded) Error() string { return e.message }
