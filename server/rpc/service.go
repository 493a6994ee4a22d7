// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	"context"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/berth-run/berth/api"
	apipb "github.com/berth-run/berth/proto/berth/api/v1"
	"github.com/berth-run/berth/server/registry"
)

// service implements the methods that every kind has. C and U are the kind's
// create and update requests, O and L its object and its list in answers, E its
// watch event.
type service[C, U writeRequest, O, L proto.Message, E any, PE eventMessage[E]] struct {
	kind *api.Kind
	reg  Registry
}

// writeRequest is what create and update requests of all kinds share.
type writeRequest interface {
	proto.Message
	GetManifest() *structpb.Struct
	GetFieldValidation() string
	GetDryRun() []string
	GetFieldManager() string
	GetAsManifest() bool
}

type eventMessage[E any] interface {
	*E
	proto.Message
}

// Create stores a new object.
func (s *service[C, U, O, L, E, PE]) Create(ctx context.Context, req C) (O, error) {
	var none O
	obj, warnings, err := s.decode(req)
	if err != nil {
		return none, err
	}
	o, err := writeOptions(req)
	if err != nil {
		return none, err
	}
	stored, more, err := s.reg.Create(ctx, s.kind, obj, o)
	if err != nil {
		return none, err
	}
	return s.answer(ctx, stored, req.GetAsManifest(), append(warnings, more...))
}

// Get returns one object.
func (s *service[C, U, O, L, E, PE]) Get(ctx context.Context, req *apipb.GetRequest) (O, error) {
	var none O
	namespace := namespaceOf(s.kind, req.GetNamespace(), nil)
	if req.GetAsManifest() || handoverOf(ctx) != nil {
		obj, err := s.reg.Get(ctx, s.kind, namespace, req.GetName())
		if err != nil {
			return none, err
		}
		return s.answer(ctx, obj, true, nil)
	}
	encoded, err := s.reg.GetEncoded(ctx, s.kind, namespace, req.GetName())
	if err != nil {
		return none, err
	}
	out := newMessage[O]()
	setRaw(out, objectField(s.kind), encoded)
	return out, nil
}

// GetStatus returns one object: the status comes with the whole of it.
func (s *service[C, U, O, L, E, PE]) GetStatus(ctx context.Context, req *apipb.GetRequest) (O, error) {
	return s.Get(ctx, req)
}

// List returns the objects of one namespace or of all.
func (s *service[C, U, O, L, E, PE]) List(ctx context.Context, req *apipb.ListRequest) (L, error) {
	var none L
	o, err := listOptions(req)
	if err != nil {
		return none, err
	}
	list, err := s.reg.List(ctx, s.kind, req.GetNamespace(), o)
	if err != nil {
		return none, err
	}
	out := newMessage[L]()
	return out, giveList(ctx, out, s.kind, list, req.GetAsManifest())
}

// Update replaces an object, except for its status where the kind has one.
func (s *service[C, U, O, L, E, PE]) Update(ctx context.Context, req U) (O, error) {
	return s.update(ctx, req, s.reg.Update)
}

// UpdateStatus replaces the status of an object and nothing else.
func (s *service[C, U, O, L, E, PE]) UpdateStatus(ctx context.Context, req U) (O, error) {
	return s.update(ctx, req, func(ctx context.Context, k *api.Kind, namespace, name string, obj api.Object, o registry.WriteOptions) (api.Object, []string, error) {
		stored, err := s.reg.UpdateStatus(ctx, k, namespace, name, obj, o)
		return stored, nil, err
	})
}

type updateFunc func(ctx context.Context, k *api.Kind, namespace, name string, obj api.Object, o registry.WriteOptions) (api.Object, []string, error)

func (s *service[C, U, O, L, E, PE]) update(ctx context.Context, req U, write updateFunc) (O, error) {
	var none O
	obj, warnings, err := s.decode(req)
	if err != nil {
		return none, err
	}
	o, err := writeOptions(req)
	if err != nil {
		return none, err
	}
	name := nameOf(requestName(req), obj)
	if name == "" {
		return none, apierrors.NewBadRequest("name must be provided")
	}
	stored, more, err := write(ctx, s.kind, namespaceOf(s.kind, requestNamespace(req), obj), name, obj, o)
	if err != nil {
		return none, err
	}
	return s.answer(ctx, stored, req.GetAsManifest(), append(warnings, more...))
}

// Delete begins or completes the end of an object.
func (s *service[C, U, O, L, E, PE]) Delete(ctx context.Context, req *apipb.DeleteRequest) (O, error) {
	var none O
	o, err := deleteOptions(req)
	if err != nil {
		return none, err
	}
	obj, err := s.reg.Delete(ctx, s.kind, namespaceOf(s.kind, req.GetNamespace(), nil), req.GetName(), o)
	if err != nil {
		return none, err
	}
	return s.answer(ctx, obj, req.GetAsManifest(), nil)
}

// decode reads the object of a request from whichever form it has.
func (s *service[C, U, O, L, E, PE]) decode(req writeRequest) (api.Object, []string, error) {
	if manifest := req.GetManifest(); manifest != nil {
		return api.DecodeStruct(s.kind, manifest, req.GetFieldValidation())
	}
	obj, err := api.ToObject(s.kind, objectOf(req))
	return obj, nil, err
}

func (s *service[C, U, O, L, E, PE]) answer(ctx context.Context, obj api.Object, asManifest bool, warnings []string) (O, error) {
	out := newMessage[O]()
	if err := giveObject(ctx, out, s.kind, obj, asManifest); err != nil {
		return out, err
	}
	setWarnings(out, warnings)
	return out, nil
}

func writeOptions(req writeRequest) (registry.WriteOptions, error) {
	errs := validation.ValidateDryRun(field.NewPath("dryRun"), req.GetDryRun())
	errs = append(errs, validation.ValidateFieldManager(req.GetFieldManager(), field.NewPath("fieldManager"))...)
	if len(errs) > 0 {
		return registry.WriteOptions{}, apierrors.NewInvalid(optionsKind, "", errs)
	}
	return registry.WriteOptions{
		Namespace: requestNamespace(req), DryRun: len(req.GetDryRun()) > 0, Manager: req.GetFieldManager(),
	}, nil
}

// optionsKind names what is invalid where it is not an object.
var optionsKind = schema.GroupKind{Group: metav1.GroupName, Kind: "Options"}
