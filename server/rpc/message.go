// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/server/registry"
)

// The messages of all kinds have one shape: a oneof "object" with the typed
// message, named after the kind ("list" in lists), and with "manifest". Here is
// what reads and writes it by that shape.
const (
	objectOneof   = "object"
	listField     = "list"
	manifestField = "manifest"
	statusField   = "status"
	typeField     = "type"
	warningsField = "warnings"
	createdField  = "created"
)

func newMessage[M proto.Message]() M {
	var none M
	return none.ProtoReflect().New().Interface().(M)
}

// objectOf returns the message in the oneof of req, or nil.
func objectOf(req proto.Message) proto.Message {
	m := req.ProtoReflect()
	f := m.WhichOneof(m.Descriptor().Oneofs().ByName(objectOneof))
	if f == nil {
		return nil
	}
	return m.Get(f).Message().Interface()
}

// requestNamespace returns the namespace field of req, which the requests of
// cluster-scoped kinds do not have.
func requestNamespace(req proto.Message) string {
	if r, ok := req.(interface{ GetNamespace() string }); ok {
		return r.GetNamespace()
	}
	return ""
}

func requestName(req proto.Message) string {
	if r, ok := req.(interface{ GetName() string }); ok {
		return r.GetName()
	}
	return ""
}

// setObject puts obj into the oneof of out: as encoded bytes, which cost no
// parse, or as a manifest.
func setObject(out proto.Message, k *api.Kind, obj api.Object, asManifest bool) error {
	if asManifest {
		return setManifest(out, api.Typed(k, obj))
	}
	encoded, err := obj.Marshal()
	if err != nil {
		return err
	}
	setRaw(out, objectField(k), encoded)
	return nil
}

// objectField names the member of the oneof that has the typed message.
func objectField(k *api.Kind) protoreflect.Name {
	return protoreflect.Name(strings.ToLower(k.Name[:1]) + k.Name[1:])
}

func setList(out proto.Message, k *api.Kind, list registry.List, asManifest bool) error {
	if asManifest {
		typed, err := api.NewList(k, list.Meta, list.Items)
		if err != nil {
			return err
		}
		return setManifest(out, typed)
	}
	encoded, err := api.EncodeList(list.Meta, list.Items)
	if err != nil {
		return err
	}
	setRaw(out, listField, encoded)
	return nil
}

func setManifest(out proto.Message, obj runtime.Object) error {
	manifest, err := api.EncodeStruct(obj)
	if err != nil {
		return err
	}
	set(out, manifestField, protoreflect.ValueOfMessage(manifest.ProtoReflect()))
	return nil
}

// setRaw makes the message field of that name carry encoded whole.
func setRaw(out proto.Message, field protoreflect.Name, encoded []byte) {
	m := out.ProtoReflect().NewField(fieldOf(out, field)).Message()
	api.Raw(m.Interface(), encoded)
	set(out, field, protoreflect.ValueOfMessage(m))
}

func setWarnings(out proto.Message, warnings []string) {
	if len(warnings) == 0 {
		return
	}
	list := out.ProtoReflect().Mutable(fieldOf(out, warningsField)).List()
	for _, w := range warnings {
		list.Append(protoreflect.ValueOfString(strings.ToValidUTF8(w, "\uFFFD")))
	}
}

func set(out proto.Message, field protoreflect.Name, v protoreflect.Value) {
	out.ProtoReflect().Set(fieldOf(out, field), v)
}

func fieldOf(m proto.Message, name protoreflect.Name) protoreflect.FieldDescriptor {
	return m.ProtoReflect().Descriptor().Fields().ByName(name)
}
