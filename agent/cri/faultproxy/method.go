// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	// The descriptors of CRI.
	_ "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// describe finds a method such as /runtime.v1.RuntimeService/Version, or nil.
func describe(fullMethod string) protoreflect.MethodDescriptor {
	service, method, ok := strings.Cut(strings.TrimPrefix(fullMethod, "/"), "/")
	if !ok {
		return nil
	}
	d, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(service))
	if err != nil {
		return nil
	}
	s, ok := d.(protoreflect.ServiceDescriptor)
	if !ok {
		return nil
	}
	return s.Methods().ByName(protoreflect.Name(method))
}

func isStream(fullMethod string) bool {
	m := describe(fullMethod)
	return m != nil && m.IsStreamingServer()
}

// decode reads a request for the script's rules; nil for what is not CRI.
func decode(fullMethod string, request []byte) proto.Message {
	m := describe(fullMethod)
	if m == nil {
		return nil
	}
	t, err := protoregistry.GlobalTypes.FindMessageByName(m.Input().FullName())
	if err != nil {
		return nil
	}
	message := t.New().Interface()
	if proto.Unmarshal(request, message) != nil {
		return nil
	}
	return message
}
