// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Decoders say what is wrong with a quantity, a time or a text, but not where.
// This file finds the place after a decoder has failed.

// errStop ends a search at its first find.
var errStop = errors.New("found")

// locateInMessage returns err with the path of the first value in m that a
// corev1 object cannot hold.
func locateInMessage(m proto.Message, err error) error {
	located := err
	if stopped := searchMessage(m.ProtoReflect(), nil, func(path *field.Path, cause error) error {
		located = fmt.Errorf("%s: %w", path, cause)
		return errStop
	}); stopped != nil {
		return located
	}
	return err
}

type onFind func(path *field.Path, cause error) error

func searchMessage(m protoreflect.Message, path *field.Path, found onFind) (stopped error) {
	switch value := m.Interface().(type) {
	case *wrapperspb.StringValue:
		if _, err := resource.ParseQuantity(value.GetValue()); err != nil {
			return found(path, err)
		}
		return nil
	case *timestamppb.Timestamp:
		if err := value.CheckValid(); err != nil {
			return found(path, err)
		}
		return nil
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		stopped = searchField(f, v, childPath(path, inlinedName(f)), found)
		return stopped == nil
	})
	return stopped
}

// inlinedName is a field's name in a manifest's path: empty for what Kubernetes
// inlines.
func inlinedName(f protoreflect.FieldDescriptor) string {
	switch name := string(f.Name()); name {
	case "volumeSource", "handler", "localObjectReference", "ephemeralContainerCommon":
		return ""
	default:
		return name
	}
}

func searchField(f protoreflect.FieldDescriptor, v protoreflect.Value, path *field.Path, found onFind) (stopped error) {
	switch {
	case f.IsMap():
		v.Map().Range(func(key protoreflect.MapKey, item protoreflect.Value) bool {
			stopped = searchValue(f.MapValue(), item, path.Key(key.String()), found)
			return stopped == nil
		})
	case f.IsList():
		for i := range v.List().Len() {
			if stopped = searchValue(f, v.List().Get(i), path.Index(i), found); stopped != nil {
				return stopped
			}
		}
	default:
		return searchValue(f, v, path, found)
	}
	return stopped
}

func searchValue(f protoreflect.FieldDescriptor, v protoreflect.Value, path *field.Path, found onFind) error {
	switch {
	case f.Message() != nil:
		return searchMessage(v.Message(), path, found)
	case f.Kind() == protoreflect.StringKind && !utf8.ValidString(v.String()):
		return found(path, errors.New("must be valid UTF-8"))
	}
	return nil
}

// locateInJSON returns err with the path of the first value in a manifest that
// its field's own decoder refuses. Without such a value it returns err. Texts
// that are not UTF-8 are an error of their own: JSON decoders mend them silently.
func locateInJSON(data []byte, into any, err error) error {
	if err == nil && utf8.Valid(data) {
		return nil
	}
	if located := searchJSON(data, reflect.TypeOf(into), nil); located != nil {
		return located
	}
	if err == nil {
		return errors.New("the manifest is not valid UTF-8")
	}
	return err
}

var (
	quantityType  = reflect.TypeFor[resource.Quantity]()
	timeType      = reflect.TypeFor[metav1.Time]()
	microTimeType = reflect.TypeFor[metav1.MicroTime]()
	// selfDecoding are the structs that are a single value in a manifest.
	selfDecoding = []reflect.Type{quantityType, timeType, microTimeType}
)

func searchJSON(data json.RawMessage, t reflect.Type, path *field.Path) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if slices.Contains(selfDecoding, t) || t.Kind() == reflect.String {
		return checkJSONValue(data, t, path)
	}
	switch t.Kind() {
	case reflect.Struct:
		return searchJSONStruct(data, t, path)
	case reflect.Slice:
		var items []json.RawMessage
		if json.Unmarshal(data, &items) != nil {
			return nil
		}
		for i, item := range items {
			if err := searchJSON(item, t.Elem(), path.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Map:
		items := jsonFields(data)
		for _, key := range slices.Sorted(maps.Keys(items)) {
			if err := searchJSON(items[key], t.Elem(), path.Key(key)); err != nil {
				return err
			}
		}
	}
	return nil
}

func searchJSONStruct(data json.RawMessage, t reflect.Type, path *field.Path) error {
	items := jsonFields(data)
	for i := range t.NumField() {
		f := t.Field(i)
		name := jsonName(f)
		value, ok := items[name]
		switch {
		case name == "" && f.Anonymous:
			value = data
		case !ok:
			continue
		}
		if err := searchJSON(value, f.Type, childPath(path, name)); err != nil {
			return err
		}
	}
	return nil
}

// jsonFields returns the members of a JSON object, or none.
func jsonFields(data json.RawMessage) map[string]json.RawMessage {
	var items map[string]json.RawMessage
	if json.Unmarshal(data, &items) != nil {
		return nil
	}
	return items
}

// checkJSONValue decodes one value with its own decoder. A value of the wrong
// JSON type is left to the error that the whole decode had, which names it.
func checkJSONValue(data json.RawMessage, t reflect.Type, path *field.Path) error {
	if !utf8.Valid(data) {
		return fmt.Errorf("%s: must be valid UTF-8", path)
	}
	if t.Kind() == reflect.String {
		return nil
	}
	if err := json.Unmarshal(data, reflect.New(t).Interface()); err != nil {
		return fmt.Errorf("%s: Invalid value: %s: %w", path, strings.TrimSpace(string(data)), err)
	}
	return nil
}

// childPath adds a field's name to a path that may be that of the whole object.
// Inlined structs have no name.
func childPath(path *field.Path, name string) *field.Path {
	switch {
	case name == "":
		return path
	case path == nil:
		return field.NewPath(name)
	}
	return path.Child(name)
}
