// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/berth-run/berth/api"
)

// apply is server-side apply: the patch says what the fields that its manager
// cares for shall be. Fields that the manager said before and says no more go.
// Where another manager owns a field and says otherwise, it is refused with
// reason Conflict, unless it is forced. Without an object it makes one.
func (r *Registry) apply(ctx context.Context, k *api.Kind, namespace, name string, s scope, p Patch, o WriteOptions) (Patched, error) {
	applied, warnings, err := readApply(k, namespace, name, p)
	if err != nil {
		return Patched{}, err
	}
	for {
		obj, err := r.modify(ctx, k, namespace, name, o, func(current api.Object) (api.Object, error) {
			obj, err := r.fields.apply(k, s, current, applied, o.Manager, p.Force)
			if err != nil {
				return nil, err
			}
			return prepareApplied(k, s, obj, current)
		})
		if err == nil {
			return Patched{Object: obj, Warnings: append(warnings, r.warnings(obj)...)}, nil
		}
		if !apierrors.IsNotFound(err) || s != wholeObject {
			return Patched{}, err
		}
		made, err := r.createApplied(ctx, k, applied, p, o)
		if !apierrors.IsAlreadyExists(err) {
			made.Warnings = append(warnings, made.Warnings...)
			return made, err
		}
	}
}

// prepareApplied makes of a merged object, which has its owners already, what is
// to be written.
func prepareApplied(k *api.Kind, s scope, obj, current api.Object) (api.Object, error) {
	if err := checkVersion(k, obj, current); err != nil {
		return nil, err
	}
	owners := obj.GetManagedFields()
	obj = strategyOf(k).prepare(s, obj, current)
	obj.SetManagedFields(owners)
	return obj, validateUpdate(k, s, obj, current)
}

func (r *Registry) createApplied(ctx context.Context, k *api.Kind, applied *unstructured.Unstructured, p Patch, o WriteOptions) (Patched, error) {
	obj, err := r.fields.apply(k, wholeObject, k.New(), applied, o.Manager, p.Force)
	if err != nil {
		return Patched{}, err
	}
	if obj.GetUID() != "" {
		return Patched{}, uidMismatch(k, obj.GetName(), obj.GetUID(), "")
	}
	stored, warnings, err := r.create(ctx, k, obj, o)
	return Patched{Object: stored, Created: err == nil, Warnings: warnings}, err
}

// readApply reads the manifest of an apply, once as the kind, for what does not
// fit it, and once as it stands, for which fields it says.
func readApply(k *api.Kind, namespace, name string, p Patch) (*unstructured.Unstructured, []string, error) {
	obj, warnings, err := api.DecodeManifest(k, p.Data, p.FieldValidation)
	if err != nil {
		return nil, nil, err
	}
	if len(obj.GetManagedFields()) > 0 {
		return nil, nil, apierrors.NewBadRequest("metadata.managedFields must be nil")
	}
	if err := matchRequest(k, namespace, name, obj); err != nil {
		return nil, nil, err
	}
	applied := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(p.Data, &applied.Object); err != nil {
		return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("the applied manifest cannot be read: %v", err))
	}
	completeApplied(applied.Object)
	applied.SetGroupVersionKind(k.GroupVersionKind())
	applied.SetName(name)
	applied.SetNamespace(obj.GetNamespace())
	return applied, warnings, nil
}
