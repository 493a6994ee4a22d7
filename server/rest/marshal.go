// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"

	gateway "github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/yaml"

	"github.com/berth-run/berth/server/apierror"
)

// marshaler writes answers in one form, and reads bodies in whichever form their
// request found them to have. The gateway picks one by the private media
// type that key returns.
type marshaler struct {
	answer mediaType
	pretty bool
}

var (
	_ gateway.Marshaler         = marshaler{}
	_ gateway.Delimited         = marshaler{}
	_ gateway.StreamContentType = marshaler{}
)

// marshalers are all that there are.
func marshalers() []marshaler {
	return []marshaler{{answer: mediaJSON}, {answer: mediaJSON, pretty: true}, {answer: mediaYAML}, {answer: mediaProtobuf}}
}

func (m marshaler) key() string {
	if m.pretty && m.answer == mediaJSON {
		return string(m.answer) + "+pretty"
	}
	return string(m.answer)
}

func (m marshaler) ContentType(any) string { return string(m.answer) }

func (m marshaler) StreamContentType(any) string {
	if m.answer == mediaProtobuf {
		return string(m.answer) + ";stream=watch"
	}
	return string(m.answer)
}

// Delimiter separates the events of a watch; protobuf frames carry their length.
func (m marshaler) Delimiter() []byte {
	if m.answer == mediaProtobuf {
		return nil
	}
	return []byte("\n")
}

// Marshal writes what unwrap returns, and what the gateway makes of a stream:
// each reply in a map under "result", an error under "error".
func (m marshaler) Marshal(v any) ([]byte, error) {
	switch v := v.(type) {
	case map[string]any:
		return m.Marshal(v["result"])
	case map[string]proto.Message:
		return m.marshalEvent(&watchEvent{kind: string(watch.Error), object: statusOf(v["error"])})
	case *watchEvent:
		return m.marshalEvent(v)
	}
	if m.answer == mediaProtobuf {
		return marshalProtobuf(v)
	}
	if o, ok := v.(*answerObject); ok && o.list != nil && m == (marshaler{answer: mediaJSON}) {
		return marshalList(o.kind, o.list)
	}
	obj, err := plain(v)
	if err != nil {
		return nil, err
	}
	return m.text(obj)
}

// text writes a Go value as JSON or YAML.
func (m marshaler) text(obj any) ([]byte, error) {
	switch {
	case m.answer == mediaYAML:
		return yaml.Marshal(obj)
	case m.pretty:
		body, err := json.MarshalIndent(obj, "", "  ")
		return append(body, '\n'), err
	}
	body, err := json.Marshal(obj)
	return append(body, '\n'), err
}

func (m marshaler) marshalEvent(e *watchEvent) ([]byte, error) {
	if m.answer == mediaProtobuf {
		return marshalFrame(e)
	}
	obj, err := plain(e.object)
	if err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		Type   string `json:"type"`
		Object any    `json:"object"`
	}{e.kind, obj})
}

// plain returns the value whose JSON is the answer's.
func plain(v any) (any, error) {
	switch v := v.(type) {
	case *answerObject:
		return v.decode()
	case *structpb.Struct:
		return v.AsMap(), nil
	case *metav1.Status, runtime.Object:
		return v, nil
	}
	return nil, fmt.Errorf("cannot answer with a %T", v)
}

func marshalProtobuf(v any) ([]byte, error) {
	switch v := v.(type) {
	case *answerObject:
		return v.envelope()
	case *metav1.Status:
		return encodedBody(metav1.Unversioned.WithKind("Status"), v)
	case *metav1.PartialObjectMetadata:
		return encodedBody(v.GroupVersionKind(), v)
	case *metav1.PartialObjectMetadataList:
		return encodedBody(v.GroupVersionKind(), v)
	}
	return nil, notAcceptable() // such as a manifest
}

func encodedBody(gvk schema.GroupVersionKind, v marshalable) ([]byte, error) {
	encoded, err := v.Marshal()
	if err != nil {
		return nil, err
	}
	return protobufBody(gvk, encoded)
}

// marshalFrame writes an event as Kubernetes' protobuf watches do: its length in
// four bytes, then a WatchEvent without envelope, whose object has one.
func marshalFrame(e *watchEvent) ([]byte, error) {
	object, err := marshalProtobuf(e.object)
	if err != nil {
		return nil, err
	}
	event := metav1.WatchEvent{Type: e.kind, Object: runtime.RawExtension{Raw: object}}
	encoded, err := event.Marshal()
	if err != nil {
		return nil, err
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(encoded))), encoded...), nil
}

// statusOf reads the gRPC status that ends a broken stream.
func statusOf(m proto.Message) *metav1.Status {
	s, _ := m.(*spb.Status)
	return &apierror.From(status.ErrorProto(s)).ErrStatus
}

// Unmarshal implements gateway.Marshaler; nothing calls it.
func (m marshaler) Unmarshal(data []byte, v any) error {
	return m.NewDecoder(bytes.NewReader(data)).Decode(v)
}

// NewDecoder reads a body that is a *request.
func (m marshaler) NewDecoder(r io.Reader) gateway.Decoder {
	return gateway.DecoderFunc(func(v any) error {
		q, ok := r.(*request)
		if !ok {
			return fmt.Errorf("a %T is no request", r)
		}
		return q.decode(v)
	})
}

// NewEncoder implements gateway.Marshaler.
func (m marshaler) NewEncoder(w io.Writer) gateway.Encoder {
	return gateway.EncoderFunc(func(v any) error {
		body, err := m.Marshal(v)
		if err != nil {
			return err
		}
		_, err = w.Write(body)
		return err
	})
}
