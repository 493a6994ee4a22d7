// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/berth-run/berth/api"
)

// Patch changes parts of an object.
type Patch struct {
	// Type is the form of Data: one of the four that Kubernetes has.
	Type types.PatchType
	Data []byte
	// Subresource is the one part that is patched, such as status; empty is the object.
	Subresource string
	// Force lets an apply take over what others own.
	Force bool
	// FieldValidation says what becomes of fields that the kind does not have.
	FieldValidation string
}

// Patched is what came of a patch.
type Patched struct {
	Object api.Object
	// Created tells that an apply found no object and made it.
	Created  bool
	Warnings []string
}

// Patch changes an object. It is read, patched, and written if nobody wrote it
// meanwhile; else it is read anew. A patch that names a resourceVersion changes
// that version only.
func (r *Registry) Patch(ctx context.Context, k *api.Kind, namespace, name string, p Patch, o WriteOptions) (Patched, error) {
	s, err := scopeOf(k, p.Subresource)
	if err != nil {
		return Patched{}, err
	}
	if p.Type == types.ApplyPatchType {
		return r.apply(ctx, k, namespace, name, s, p, o)
	}
	change, warnings, err := readPatch(p)
	if err != nil {
		return Patched{}, err
	}
	var found []string // of the last attempt
	obj, err := r.modify(ctx, k, namespace, name, o, func(current api.Object) (obj api.Object, err error) {
		if obj, found, err = patched(k, current, change, p.FieldValidation); err != nil {
			return nil, err
		}
		return r.preparePatched(k, namespace, name, s, obj, current, o)
	})
	if err != nil {
		return Patched{}, err
	}
	return Patched{Object: obj, Warnings: slices.Concat(warnings, found, r.warnings(obj))}, nil
}

// preparePatched makes of a patched object what is to be written.
func (r *Registry) preparePatched(k *api.Kind, namespace, name string, s scope, obj, current api.Object, o WriteOptions) (api.Object, error) {
	if err := matchRequest(k, namespace, name, obj); err != nil {
		return nil, err
	}
	if err := checkVersion(k, obj, current); err != nil {
		return nil, err
	}
	return r.prepare(k, s, obj, current, o.Manager)
}

// patched returns what change makes of an object, and warnings of fields that the
// kind does not have.
func patched(k *api.Kind, current api.Object, change jsonChange, fieldValidation string) (api.Object, []string, error) {
	before, err := json.Marshal(api.Typed(k, current))
	if err != nil {
		return nil, nil, apierrors.NewInternalError(fmt.Errorf("%s %s: %w", k.Name, api.FullName(current), err))
	}
	after, err := change(k, before)
	if err != nil {
		return nil, nil, err
	}
	obj, warnings, err := api.DecodeManifest(k, after, fieldValidation)
	if err != nil {
		return nil, nil, apierrors.NewInvalid(k.GroupVersionKind().GroupKind(), current.GetName(), field.ErrorList{
			field.Invalid(field.NewPath("patch"), field.OmitValueType{}, err.Error())})
	}
	dropKind(obj)
	return obj, warnings, nil
}
