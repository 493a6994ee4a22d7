// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// An object has four forms: the corev1 Go value in memory, its Kubernetes
// protobuf encoding in the store and between server and agent, the typed proto
// message of gRPC (the same bytes), and the manifest, which is Kubernetes JSON.
// This file has every way between them. What it refuses, it refuses with a
// Status error of reason BadRequest.

// ToObject decodes a proto message of kind k, whether its fields are set or it
// carries an encoded object whole (see Raw).
func ToObject(k *Kind, m proto.Message) (Object, error) {
	if m == nil || !m.ProtoReflect().IsValid() {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the request carries no %s", k.Name))
	}
	if err := checkTypeMeta(k, messageTypeMeta(m.ProtoReflect())); err != nil {
		return nil, err
	}
	encoded, err := Encoded(m)
	if err != nil {
		return nil, undecodable(k, locateInMessage(m, err))
	}
	obj := k.New()
	if err := obj.Unmarshal(encoded); err != nil {
		return nil, undecodable(k, locateInMessage(m, err))
	}
	return obj, nil
}

// FromObject decodes obj into m, the typed message of its kind. A message that
// only passes through on its way to the wire is cheaper made by Raw.
func FromObject(obj Object, m proto.Message) error {
	encoded, err := obj.Marshal()
	if err != nil {
		return err
	}
	return proto.Unmarshal(encoded, m)
}

// Raw makes m carry an encoded object whole, without a parse: its fields read as
// unset, and on the wire it is exactly those bytes. It returns m. The bytes are
// m's from then on.
func Raw[M proto.Message](m M, encoded []byte) M {
	r := m.ProtoReflect()
	proto.Reset(m)
	r.SetUnknown(encoded)
	return m
}

// Encoded returns a message's encoding: of one that carries an encoded object
// whole, those bytes themselves.
func Encoded(m proto.Message) ([]byte, error) {
	r := m.ProtoReflect()
	whole := len(r.GetUnknown()) > 0
	r.Range(func(protoreflect.FieldDescriptor, protoreflect.Value) bool {
		whole = false
		return false
	})
	if whole {
		return r.GetUnknown(), nil
	}
	return proto.Marshal(m)
}

// Numbers of fields that all kinds and all lists share in the Kubernetes
// protobuf encoding.
const (
	metadataField        = 1
	itemsField           = 2
	resourceVersionField = 6
)

// WithResourceVersion returns a copy of an encoded object with that
// resourceVersion, without a parse: it adds a second metadata field, which
// decoders merge into the first.
func WithResourceVersion(encoded []byte, resourceVersion string) []byte {
	var meta []byte
	meta = protowire.AppendTag(meta, resourceVersionField, protowire.BytesType)
	meta = protowire.AppendString(meta, resourceVersion)

	out := make([]byte, 0, len(encoded)+len(meta)+2)
	out = append(out, encoded...)
	out = protowire.AppendTag(out, metadataField, protowire.BytesType)
	return protowire.AppendBytes(out, meta)
}

// EncodeList encodes a list of any kind, into one buffer of the size that it takes.
func EncodeList(listMeta metav1.ListMeta, items []Object) ([]byte, error) {
	encodedMeta, err := listMeta.Marshal()
	if err != nil {
		return nil, err
	}
	sizes := make([]int, len(items))
	total := fieldSize(metadataField, len(encodedMeta))
	for i, item := range items {
		sizes[i] = item.Size()
		total += fieldSize(itemsField, sizes[i])
	}
	out := make([]byte, 0, total)
	out = protowire.AppendTag(out, metadataField, protowire.BytesType)
	out = protowire.AppendBytes(out, encodedMeta)
	for i, item := range items {
		out = protowire.AppendTag(out, itemsField, protowire.BytesType)
		out = protowire.AppendVarint(out, uint64(sizes[i]))
		begin := len(out)
		out = out[:begin+sizes[i]]
		if _, err := item.MarshalToSizedBuffer(out[begin:]); err != nil {
			return nil, fmt.Errorf("%s: %w", FullName(item), err)
		}
	}
	return out, nil
}

// fieldSize is what a field of so many bytes takes in an encoding.
func fieldSize(number protowire.Number, bytes int) int {
	return protowire.SizeTag(number) + protowire.SizeBytes(bytes)
}

// Typed returns obj with its apiVersion and kind set, as manifests show it. It
// copies the outermost struct only, so obj may be shared.
func Typed(k *Kind, obj Object) Object {
	typed := ShallowCopy(obj)
	typed.GetObjectKind().SetGroupVersionKind(k.GroupVersionKind())
	return typed
}

// ShallowCopy copies an object's outermost struct: its metadata's own fields may
// be set in the copy, but not what maps, slices and pointers hold.
func ShallowCopy(obj Object) Object {
	from := reflect.ValueOf(obj).Elem()
	to := reflect.New(from.Type())
	to.Elem().Set(from)
	return to.Interface().(Object)
}

// NewList returns the typed list of kind k with its apiVersion and kind set.
func NewList(k *Kind, listMeta metav1.ListMeta, items []Object) (runtime.Object, error) {
	list := k.NewList()
	objects := make([]runtime.Object, len(items))
	for i := range items {
		objects[i] = items[i]
	}
	if err := meta.SetList(list, objects); err != nil {
		return nil, err
	}
	reflect.ValueOf(list).Elem().FieldByName("ListMeta").Set(reflect.ValueOf(listMeta))
	gvk := k.GroupVersionKind()
	gvk.Kind += "List"
	list.GetObjectKind().SetGroupVersionKind(gvk)
	return list, nil
}

// EncodeManifest returns obj as a Kubernetes manifest in JSON.
func EncodeManifest(k *Kind, obj Object) ([]byte, error) { return json.Marshal(Typed(k, obj)) }

// EncodeStruct returns obj, or a list from NewList, as a manifest for gRPC.
func EncodeStruct(obj runtime.Object) (*structpb.Struct, error) {
	manifest, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	s := &structpb.Struct{}
	return s, s.UnmarshalJSON(manifest)
}

// DecodeStruct decodes a manifest that came as a google.protobuf.Struct, as
// DecodeManifest does.
func DecodeStruct(k *Kind, s *structpb.Struct, fieldValidation string) (obj Object, warnings []string, err error) {
	manifest, err := s.MarshalJSON()
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("the manifest cannot be read: %v", err))
	}
	return DecodeManifest(k, manifest, fieldValidation)
}

// DecodeManifest decodes a manifest of kind k in JSON or YAML. fieldValidation
// says what becomes of unknown and duplicate fields: Strict refuses them, Warn
// (or empty) returns a warning for each, Ignore drops them.
func DecodeManifest(k *Kind, manifest []byte, fieldValidation string) (obj Object, warnings []string, err error) {
	data, strictErrs, err := toJSON(manifest)
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(err.Error())
	}
	var typeMeta metav1.TypeMeta
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &typeMeta); err != nil {
		return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("couldn't get version/kind; json parse error: %v", err))
	}
	if err := checkTypeMeta(k, typeMeta); err != nil {
		return nil, nil, err
	}
	obj = k.New()
	moreErrs, err := kjson.UnmarshalStrict(data, obj)
	if err = locateInJSON(data, obj, err); err != nil {
		return nil, nil, undecodable(k, err)
	}
	warnings, err = strictness(k, append(strictErrs, moreErrs...), fieldValidation)
	if err != nil {
		return nil, nil, err
	}
	return obj, warnings, nil
}

// toJSON returns a manifest as JSON, with what strict decoding finds in its YAML.
func toJSON(manifest []byte) (data []byte, strictErrs []error, err error) {
	if utilyaml.IsJSONBuffer(manifest) {
		return manifest, nil, nil
	}
	if len(bytes.TrimSpace(manifest)) == 0 {
		return nil, nil, fmt.Errorf("the manifest is empty")
	}
	if data, err = yaml.YAMLToJSONStrict(manifest); err == nil {
		return data, nil, nil
	}
	strictErr := err
	if data, err = yaml.YAMLToJSON(manifest); err != nil {
		return nil, nil, fmt.Errorf("yaml parse error: %w", err)
	}
	return data, yamlFindings(strictErr), nil
}

// yamlFindings takes the lines of a YAML error apart: each is about one key.
func yamlFindings(err error) (findings []error) {
	for line := range strings.Lines(err.Error()) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasSuffix(line, ":") { // not a heading
			findings = append(findings, errors.New(line))
		}
	}
	return findings
}

// strictness turns the findings of strict decoding into warnings or an error.
func strictness(k *Kind, findings []error, fieldValidation string) (warnings []string, err error) {
	for _, f := range findings {
		warnings = append(warnings, f.Error())
	}
	switch fieldValidation {
	case metav1.FieldValidationIgnore:
		return nil, nil
	case metav1.FieldValidationWarn, "":
		return warnings, nil
	case metav1.FieldValidationStrict:
		if len(warnings) == 0 {
			return nil, nil
		}
		return nil, undecodable(k, fmt.Errorf("strict decoding error: %s", strings.Join(warnings, ", ")))
	}
	return nil, apierrors.NewBadRequest(fmt.Sprintf(
		"fieldValidation: Unsupported value: %q: supported values: \"Ignore\", \"Warn\", \"Strict\"", fieldValidation))
}

// checkTypeMeta refuses a manifest of another kind or version. Leaving both out
// is allowed: the request names the kind already.
func checkTypeMeta(k *Kind, t metav1.TypeMeta) error {
	kind, apiVersion := k.GroupVersionKind().Kind, k.GroupVersionKind().GroupVersion().String()
	switch {
	case t.APIVersion != "" && t.APIVersion != apiVersion:
		return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: no kind %q is registered for version %q",
			orElse(t.Kind, kind), t.APIVersion, kind, orElse(t.Kind, kind), t.APIVersion))
	case t.Kind != "" && t.Kind != kind:
		return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s",
			t.Kind, k.Version, kind))
	}
	return nil
}

func orElse(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

func messageTypeMeta(m protoreflect.Message) metav1.TypeMeta {
	text := func(name protoreflect.Name) string {
		if f := m.Descriptor().Fields().ByName(name); f != nil && f.Kind() == protoreflect.StringKind {
			return m.Get(f).String()
		}
		return ""
	}
	return metav1.TypeMeta{Kind: text("kind"), APIVersion: text("apiVersion")}
}

func undecodable(k *Kind, err error) error {
	return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", k.Name, k.Version, k.Name, err))
}
