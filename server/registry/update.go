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
	stored, err := r.replaceBy(ctx, k, namespace, name, wholeObject, obj, o)
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
	return r.replaceBy(ctx, k, namespace, name, statusOnly, obj, o)
}

// UpdateEphemeralContainers adds to the containers that look into a pod, and changes
// nothing else of it.
func (r *Registry) UpdateEphemeralContainers(ctx context.Context, namespace, name string, obj api.Object, o WriteOptions) (api.Object, []string, error) {
	stored, err := r.replaceBy(ctx, api.Pods, namespace, name, ephemeralContainers, obj, o)
	if err != nil {
		return nil, nil, err
	}
	return stored, r.warnings(stored), nil
}

// UpdateResize changes the resources of a pod's containers, and nothing else of it.
func (r *Registry) UpdateResize(ctx context.Context, namespace, name string, obj api.Object, o WriteOptions) (api.Object, []string, error) {
	stored, err := r.replaceBy(ctx, api.Pods, namespace, name, resizeOnly, obj, o)
	if err != nil {
		return nil, nil, err
	}
	return stored, r.warnings(stored), nil
}

// prepare makes of an object that a user wrote, and that is its to change, what
// replaces the current one in that scope.
func (r *Registry) prepare(k *api.Kind, s scope, obj, current api.Object, manager string) (api.Object, error) {
	obj = strategyOf(k).prepare(s, obj, current)
	if err := r.fields.update(k, s, obj, current, manager); err != nil {
		return nil, err
	}
	return obj, validateUpdate(k, s, obj, current)
}

func validateUpdate(k *api.Kind, s scope, obj, current api.Object) error {
	validate := api.ValidateUpdate
	switch s {
	case statusOnly:
		validate = api.ValidateStatusUpdate
	case ephemeralContainers:
		validate = api.ValidateEphemeralUpdate
	case resizeOnly:
		validate = api.ValidateResize
	}
	if errs := validate(k, obj, current); len(errs) > 0 {
		return apierrors.NewInvalid(k.GroupVersionKind().GroupKind(), current.GetName(), errs)
	}
	return nil
}

// replaceBy writes obj in that scope, if it may replace what is stored.
func (r *Registry) replaceBy(ctx context.Context, k *api.Kind, namespace, name string, s scope, obj api.Object, o WriteOptions) (api.Object, error) {
	obj = api.ShallowCopy(obj)
	dropKind(obj)
	if err := matchRequest(k, namespace, name, obj); err != nil {
		return nil, err
	}
	return r.modify(ctx, k, namespace, name, o, func(current api.Object) (api.Object, error) {
		if err := checkVersion(k, obj, current); err != nil {
			return nil, err
		}
		return r.prepare(k, s, obj.DeepCopyObject().(api.Object), current, o.Manager)
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
		if err := r.requireOneDefault(ctx, obj); err != nil {
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
