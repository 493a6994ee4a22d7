// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/berth-run/berth/api"
	corepb "github.com/berth-run/berth/proto/berth/core/v1"
)

// decode reads the body into into, a pointer to a pointer to the message that
// the gateway wants filled, such as **corepb.Pod. An empty body is io.EOF, which
// the gateway takes as a message not sent. Any other error stays in q too, since
// the gateway keeps nothing but its text.
func (q *request) decode(into any) error {
	body, err := q.readAll()
	if err == nil {
		err = q.fill(reflect.ValueOf(into).Elem(), body)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		q.err = err
	}
	return err
}

func (q *request) fill(slot reflect.Value, body []byte) error {
	message, ok := reflect.New(slot.Type().Elem()).Interface().(proto.Message)
	if !ok {
		return fmt.Errorf("cannot decode a body into %s", slot.Type())
	}
	if err := q.decodeAs(body, message); err != nil {
		return err
	}
	slot.Set(reflect.ValueOf(message))
	return nil
}

func (q *request) decodeAs(body []byte, message proto.Message) error {
	switch t, ok := bodyType(q.contentType); {
	case !ok:
		return unsupportedMediaType(q.contentType, accepted...)
	case t == mediaProtobuf:
		return decodeProtobuf(body, message)
	default:
		if err := checkText(t, body); err != nil {
			return err
		}
		return q.decodeManifest(body, message)
	}
}

// decodeManifest goes from JSON or YAML through the Go value into a message that
// carries the encoded object whole.
func (q *request) decodeManifest(body []byte, message proto.Message) error {
	obj, err := q.decodeObject(body, message)
	if err != nil {
		return err
	}
	encoded, err := obj.Marshal()
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	api.Raw(message, encoded)
	return nil
}

type marshalable interface{ Marshal() ([]byte, error) }

type parameters interface {
	marshalable
	runtime.Object
}

func (q *request) decodeObject(body []byte, message proto.Message) (marshalable, error) {
	switch message.(type) {
	case *corepb.DeleteOptions:
		return decodeParameters(body, &metav1.DeleteOptions{}, "DeleteOptions")
	case *corepb.Binding:
		return decodeParameters(body, &corev1.Binding{}, "Binding")
	case *corepb.TokenRequest:
		return decodeParameters(body, &authenticationv1.TokenRequest{}, "TokenRequest")
	}
	k := messageKind(message)
	if k == nil {
		return nil, fmt.Errorf("no kind has the message %T", message)
	}
	obj, warnings, err := api.DecodeManifest(k, body, q.fieldValidation)
	q.warnings = append(q.warnings, warnings...)
	return obj, err
}

// checkText refuses YAML that calls itself JSON, and more than one document.
func checkText(t mediaType, body []byte) error {
	if t == mediaJSON {
		if !utilyaml.IsJSONBuffer(body) {
			return apierrors.NewBadRequest("the body of the request is not a JSON object (for YAML set Content-Type: application/yaml)")
		}
		return nil
	}
	documents := 0
	for reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(body))); ; {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return apierrors.NewBadRequest(fmt.Sprintf("yaml parse error: %v", err))
		}
		if hasContent(document) {
			documents++
		}
		if documents > 1 {
			return apierrors.NewBadRequest("the body of the request has more than one YAML document: send one object at a time")
		}
	}
}

// hasContent tells whether a YAML document is more than comments.
func hasContent(document []byte) bool {
	for line := range bytes.Lines(document) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return true
		}
	}
	return false
}

// decodeParameters reads what is no object of the table: unknown fields in it
// are refused, since nobody would see a warning about an option.
func decodeParameters[T parameters](body []byte, into T, kind string) (T, error) {
	data, err := yaml.YAMLToJSONStrict(body) // JSON is YAML
	if err != nil {
		return into, apierrors.NewBadRequest(err.Error())
	}
	strict, err := kjson.UnmarshalStrict(data, into)
	if err = errors.Join(append([]error{err}, strict...)...); err != nil {
		return into, apierrors.NewBadRequest(fmt.Sprintf("the body of the request cannot be read: %v", err))
	}
	if got := into.GetObjectKind().GroupVersionKind().Kind; got != "" && got != kind {
		return into, apierrors.NewBadRequest(fmt.Sprintf("the body of the request is a %s, not %s", got, kind))
	}
	return into, nil
}

// protobufPrefix begins every Kubernetes protobuf body; a runtime.Unknown follows.
var protobufPrefix = []byte{'k', '8', 's', 0}

// decodeProtobuf parses the message for real: it is what refuses text that is
// not UTF-8.
func decodeProtobuf(body []byte, message proto.Message) error {
	envelope, ok := bytes.CutPrefix(body, protobufPrefix)
	if !ok {
		return apierrors.NewBadRequest("the body of the request is not Kubernetes protobuf")
	}
	var unknown runtime.Unknown
	if err := unknown.Unmarshal(envelope); err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("the protobuf envelope cannot be read: %v", err))
	}
	if err := proto.Unmarshal(unknown.Raw, message); err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("the protobuf body cannot be read: %v", err))
	}
	// The envelope names the kind; whoever reads the message checks it.
	setText(message, "apiVersion", unknown.APIVersion)
	setText(message, "kind", unknown.Kind)
	return nil
}

func setText(message proto.Message, field protoreflect.Name, text string) {
	m := message.ProtoReflect()
	if f := m.Descriptor().Fields().ByName(field); f != nil && text != "" {
		m.Set(f, protoreflect.ValueOfString(text))
	}
}

// messageKind returns the kind whose typed message this is, or nil.
func messageKind(message proto.Message) *api.Kind {
	name := string(message.ProtoReflect().Descriptor().Name())
	for _, k := range api.Kinds {
		if k.Name == name {
			return k
		}
	}
	return nil
}
