// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/types"

	apipb "github.com/berth-run/berth/proto/berth/api/v1"
	"github.com/berth-run/berth/server/registry"
)

// Patch changes parts of an object.
func (s *service[C, U, O, L, E, PE]) Patch(ctx context.Context, req *apipb.PatchRequest) (O, error) {
	var none O
	if err := checkSubresource(req.GetSubresource()); err != nil {
		return none, err
	}
	p := registry.Patch{
		Type: types.PatchType(req.GetType()), Data: req.GetPatch(), Subresource: req.GetSubresource(),
		Force: req.GetForce(), FieldValidation: req.GetFieldValidation(),
	}
	if err := checkPatchOptions(req, p); err != nil {
		return none, err
	}
	patched, err := s.reg.Patch(ctx, s.kind, namespaceOf(s.kind, req.GetNamespace(), nil), req.GetName(), p,
		registry.WriteOptions{DryRun: len(req.GetDryRun()) > 0, Manager: req.GetFieldManager()})
	if err != nil {
		return none, err
	}
	out, err := s.answer(ctx, patched.Object, req.GetAsManifest(), patched.Warnings)
	if patched.Created {
		set(out, createdField, protoreflect.ValueOfBool(true))
	}
	return out, err
}

// Apply is a patch of the apply form.
func (s *service[C, U, O, L, E, PE]) Apply(ctx context.Context, req *apipb.ApplyRequest) (O, error) {
	var none O
	if req.GetManifest() == nil {
		return none, apierrors.NewBadRequest(fmt.Sprintf("the request carries no manifest of the %s to apply", s.kind.Name))
	}
	manifest, err := req.GetManifest().MarshalJSON()
	if err != nil {
		return none, apierrors.NewBadRequest(fmt.Sprintf("the manifest cannot be read: %v", err))
	}
	metadata := req.GetManifest().GetFields()["metadata"].GetStructValue().GetFields()
	return s.Patch(ctx, &apipb.PatchRequest{
		Namespace:       cmp.Or(req.GetNamespace(), metadata["namespace"].GetStringValue()),
		Name:            cmp.Or(req.GetName(), metadata["name"].GetStringValue()),
		Type:            string(types.ApplyPatchType),
		Patch:           manifest,
		FieldManager:    req.GetFieldManager(),
		Force:           req.GetForce(),
		FieldValidation: req.GetFieldValidation(),
		DryRun:          req.GetDryRun(),
		AsManifest:      req.GetAsManifest(),
	})
}

// checkSubresource takes those parts of an object that can be patched apart from it,
// of whatever kind.
func checkSubresource(name string) error {
	if slices.Contains([]string{"", "status", "ephemeralcontainers", "resize"}, name) {
		return nil
	}
	return apierrors.NewBadRequest(fmt.Sprintf("subresource %q: must be empty, status, ephemeralcontainers or resize", name))
}

func checkPatchOptions(req *apipb.PatchRequest, p registry.Patch) error {
	if req.GetName() == "" {
		return apierrors.NewBadRequest("name must be provided")
	}
	o := &metav1.PatchOptions{DryRun: req.GetDryRun(), FieldManager: req.GetFieldManager(), FieldValidation: req.GetFieldValidation()}
	if p.Force {
		o.Force = &p.Force
	}
	if errs := validation.ValidatePatchOptions(o, p.Type); len(errs) > 0 {
		return apierrors.NewInvalid(optionsKind, "", errs)
	}
	return nil
}
