// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"context"
	"fmt"
	"net/http"
	"reflect"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/berth-run/berth/api"
	corepb "github.com/berth-run/berth/proto/berth/core/v1"
	"github.com/berth-run/berth/server/registry"
)

// answerObject is an object or list of an answer: still in its Kubernetes protobuf
// encoding, or as it is in memory. Each marshaler takes it from there.
type answerObject struct {
	kind    *api.Kind // nil for what is no object of the table
	gvk     schema.GroupVersionKind
	empty   func() runtime.Object
	encoded []byte
	// object or list, where one is set, is what it is, shared.
	object api.Object
	list   *registry.List
}

// watchEvent is one event of a watch; object is what unwrap returns for an answer.
type watchEvent struct {
	kind   string
	object any
}

// unwrap returns what a reply of the services carries, in the shape that its
// request asks for, as a value for the marshalers: *answerObject, *watchEvent,
// *structpb.Struct, *metav1.Status or another runtime.Object. It is the gateway's
// response rewriter.
func unwrap(ctx context.Context, reply proto.Message) (any, error) {
	object, err := requestOf(ctx).content(reply.ProtoReflect())
	if err != nil {
		return nil, err
	}
	if e, ok := reply.(interface{ GetType() string }); ok {
		return &watchEvent{kind: e.GetType(), object: object}, nil
	}
	return object, nil
}

// content returns what a reply is about. A reply without an object has handed it
// over.
func (q *request) content(m protoreflect.Message) (any, error) {
	content := m.Descriptor().Fields().ByName("status") // of a BindPodReply
	if oneof := m.Descriptor().Oneofs().ByName("object"); oneof != nil {
		content = m.WhichOneof(oneof)
	}
	if content == nil {
		handed, ok := q.handed.Take()
		if !ok {
			return nil, fmt.Errorf("%s is empty", m.Descriptor().FullName())
		}
		return q.reshape(&answerObject{kind: handed.Kind, object: handed.Object, list: handed.List})
	}
	object, err := unwrapObject(m.Get(content).Message())
	if o, ok := object.(*answerObject); ok && err == nil && o.kind != nil {
		return q.reshape(o)
	}
	return object, err
}

// write answers with content in the form that was asked for.
func (q *request) write(w http.ResponseWriter, content any, code int) error {
	body, err := q.form.Marshal(content)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", q.form.ContentType(content))
	w.WriteHeader(code)
	_, _ = w.Write(body) // the client went away; nobody is left to tell
	return nil
}

func unwrapObject(m protoreflect.Message) (any, error) {
	if s, ok := m.Interface().(*structpb.Struct); ok {
		return s, nil
	}
	encoded, err := api.Encoded(m.Interface())
	if err != nil {
		return nil, err
	}
	if _, ok := m.Interface().(*corepb.Status); ok {
		s := &metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}}
		return s, s.Unmarshal(encoded)
	}
	return newAnswerObject(string(m.Descriptor().Name()), encoded)
}

func newAnswerObject(message string, encoded []byte) (*answerObject, error) {
	if message == tokenRequest.Kind {
		return &answerObject{
			gvk: tokenRequest, empty: func() runtime.Object { return &authenticationv1.TokenRequest{} }, encoded: encoded,
		}, nil
	}
	for _, k := range api.Kinds {
		o := &answerObject{kind: k, gvk: k.GroupVersionKind(), encoded: encoded}
		switch message {
		case k.Name:
			o.empty = func() runtime.Object { return k.New() }
			return o, nil
		case k.Name + "List":
			o.gvk.Kind += "List"
			o.empty = k.NewList
			return o, nil
		}
	}
	return nil, fmt.Errorf("no kind has the message %s", message)
}

var tokenRequest = authenticationv1.SchemeGroupVersion.WithKind("TokenRequest")

// decode returns the Go value, with its apiVersion and kind.
func (o *answerObject) decode() (runtime.Object, error) {
	switch {
	case o.object != nil:
		return api.Typed(o.kind, o.object), nil
	case o.list != nil:
		return typedList(o.kind, o.list)
	}
	obj := o.empty()
	if err := obj.(interface{ Unmarshal([]byte) error }).Unmarshal(o.encoded); err != nil {
		return nil, err
	}
	obj.GetObjectKind().SetGroupVersionKind(o.gvk)
	if meta.IsListType(obj) {
		return obj, fillItems(obj)
	}
	return obj, nil
}

func typedList(k *api.Kind, list *registry.List) (runtime.Object, error) {
	typed, err := api.NewList(k, list.Meta, list.Items)
	if err != nil {
		return nil, err
	}
	return typed, fillItems(typed)
}

// fillItems makes the items of an empty list [] rather than null.
func fillItems(list runtime.Object) error {
	ptr, err := meta.GetItemsPtr(list)
	if err != nil {
		return err
	}
	if items := reflect.ValueOf(ptr).Elem(); items.IsNil() {
		items.Set(reflect.MakeSlice(items.Type(), 0, 0))
	}
	return nil
}

// envelope returns the object in the form that Kubernetes protobuf bodies have.
func (o *answerObject) envelope() ([]byte, error) { return protobufBody(o.gvk, o.encoded) }

func protobufBody(gvk schema.GroupVersionKind, encoded []byte) ([]byte, error) {
	unknown := runtime.Unknown{
		TypeMeta: runtime.TypeMeta{APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind},
		Raw:      encoded,
	}
	body := make([]byte, len(protobufPrefix)+unknown.Size())
	n := copy(body, protobufPrefix)
	_, err := unknown.MarshalTo(body[n:])
	return body, err
}
