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
	stored, err := r.replaceBy(ctx, k, namespace, name, obj, o, r.prepareUpdate)
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
	return r.replaceBy(ctx, k, namespace, name, obj, o, r.prepareStatusUpdate)
}

// prepareFunc makes of an object that a user wrote, and that is its to change,
// what replaces the current one.
type prepareFunc func(k *api.Kind, obj, current api.Object, manager string) (api.Object, error)

func (r *Registry) prepareUpdate(k *api.Kind, obj, current api.Object, manager string) (api.Object, error) {
	strategyOf(k).prepareForUpdate(obj, current)
	if err := r.fields.update(k, wholeObject, obj, current, manager); err != nil {
		return nil, err
	}
	if errs := api.ValidateUpdate(k, obj, current); len(errs) > 0 {
		return nil, apierrors.NewInvalid(k.GroupVersionKind().GroupKind(), current.GetName(), errs)
	}
	return obj, nil
}

func (r *Registry) prepareStatusUpdate(k *api.Kind, obj, current api.Object, manager string) (api.Object, error) {
	next := strategyOf(k).prepareForStatusUpdate(obj, current)
	if err := r.fields.update(k, statusOnly, next, current, manager); err != nil {
		return nil, err
	}
	if errs := api.ValidateStatusUpdate(k, next, current); len(errs) > 0 {
		return nil, apierrors.NewInvalid(k.GroupVersionKind().GroupKind(), current.GetName(), errs)
	}
	return next, nil
}

// replaceBy writes what prepare makes of obj, if obj may replace what is stored.
func (r *Registry) replaceBy(ctx context.Context, k *api.Kind, namespace, name string, obj api.Object, o WriteOptions, prepare prepareFunc) (api.Object, error) {
	obj = api.ShallowCopy(obj)
	dropKind(obj)
	if err := matchRequest(k, namespace, name, obj); err != nil {
		return nil, err
	}
	return r.modify(ctx, k, namespace, name, o, func(current api.Object) (api.Object, error) {
		if err := checkVersion(k, obj, current); err != nil {
			return nil, err
		}
		return prepare(k, obj.DeepCopyObject().(api.Object), current, o.Manager)
	})
}

// modify writes what next makes of the current object, which it gets shared. It
// is asked again if another write comes between.
func (r *Registry) modify(ctx context.Context, k *api.Kind, namespace, name string, o WriteOptions,
	next func(current api.Object) (api.Object, error)) (api.Object, error) {
	var dry api.Object
	stored, err := r.change(ctx, k, namespace, name, func(current api.Object) (decision, error) {
		obj, err := next(current)
		if err != nil {
			return decision{}, err
		}
		if o.DryRun {
			dry = obj
			return decision{}, nil
		}
		return decision{write: obj}, nil
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
