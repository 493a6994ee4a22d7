// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/berth-run/berth/api"
)

// Update replaces an object, but not its status. An obj with a resourceVersion
// replaces that version only; one without replaces whatever is stored.
func (r *Registry) Update(ctx context.Context, k *api.Kind, namespace, name string, obj api.Object, o WriteOptions) (api.Object, []string, error) {
	stored, err := r.update(ctx, k, namespace, name, obj, o, func(obj, current api.Object) (api.Object, error) {
		strategyOf(k).prepareForUpdate(obj, current)
		if errs := api.ValidateUpdate(k, obj, current); len(errs) > 0 {
			return nil, apierrors.NewInvalid(k.GroupVersionKind().GroupKind(), name, errs)
		}
		return obj, nil
	})
	if err != nil {
		return nil, nil, err
	}
	return stored, r.warnings(stored), nil
}

// UpdateStatus replaces an object's status and nothing else.
func (r *Registry) UpdateStatus(ctx context.Context, k *api.Kind, namespace, name string, obj api.Object, o WriteOptions) (api.Object, error) {
	if !k.Status {
		return nil, apierrors.NewMethodNotSupported(k.GroupResource(), "update status")
	}
	return r.update(ctx, k, namespace, name, obj, o, func(obj, current api.Object) (api.Object, error) {
		next := strategyOf(k).prepareForStatusUpdate(obj, current)
		if errs := api.ValidateStatusUpdate(k, next, current); len(errs) > 0 {
			return nil, apierrors.NewInvalid(k.GroupVersionKind().GroupKind(), name, errs)
		}
		return next, nil
	})
}

// update checks that obj may replace what is stored, and writes what prepare
// makes of a copy of it.
func (r *Registry) update(ctx context.Context, k *api.Kind, namespace, name string, obj api.Object, o WriteOptions,
	prepare func(obj, current api.Object) (api.Object, error)) (api.Object, error) {
	obj = api.ShallowCopy(obj)
	if err := matchRequest(k, namespace, name, obj); err != nil {
		return nil, err
	}
	var dry api.Object
	stored, err := r.change(ctx, k, namespace, name, func(current api.Object) (decision, error) {
		if err := checkVersion(k, obj, current); err != nil {
			return decision{}, err
		}
		next, err := prepare(obj.DeepCopyObject().(api.Object), current)
		if err != nil {
			return decision{}, err
		}
		if o.DryRun {
			dry = next
			return decision{}, nil
		}
		return decision{write: next}, nil
	})
	if err == nil && dry != nil {
		return dry, nil
	}
	return stored, err
}

// matchRequest makes obj agree with the name and namespace of the request.
func matchRequest(k *api.Kind, namespace, name string, obj api.Object) error {
	if obj.GetName() == "" {
		obj.SetName(name)
	}
	if obj.GetName() != name {
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", obj.GetName(), name))
	}
	return placeInNamespace(k, obj, namespace)
}

// checkVersion refuses an obj that was made from another version of the stored
// object, or from another object of the same name.
func checkVersion(k *api.Kind, obj, current api.Object) error {
	if uid := obj.GetUID(); uid != "" && uid != current.GetUID() {
		return uidMismatch(k, current.GetName(), uid, current.GetUID())
	}
	if rv := obj.GetResourceVersion(); rv != "" && rv != current.GetResourceVersion() {
		return modified(k, current.GetName())
	}
	return nil
}
