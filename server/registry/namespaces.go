// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/store"
)

// requireNamespace refuses an object whose namespace does not exist.
func (r *Registry) requireNamespace(ctx context.Context, k *api.Kind, obj api.Object) error {
	if !k.Namespaced {
		return nil
	}
	if _, err := r.store.Get(ctx, keyOf(api.Namespaces, "", obj.GetNamespace())); err != nil {
		return storeError(api.Namespaces, obj.GetNamespace(), err)
	}
	return nil
}

// deleteNamespace removes a namespace that is empty. No object is created in it
// meanwhile.
func (r *Registry) deleteNamespace(ctx context.Context, name string, o metav1.DeleteOptions) (api.Object, error) {
	if name == metav1.NamespaceDefault {
		return nil, apierrors.NewForbidden(api.Namespaces.GroupResource(), name, errors.New("this namespace may not be deleted"))
	}
	r.spaces.Lock()
	defer r.spaces.Unlock()
	dryRun := len(o.DryRun) > 0
	obj, err := r.change(ctx, api.Namespaces, "", name, func(current api.Object) (decision, error) {
		if err := checkPreconditions(api.Namespaces, o, current); err != nil {
			return decision{}, err
		}
		return decision{remove: !dryRun}, r.requireEmpty(ctx, name)
	})
	if err != nil || dryRun {
		return obj, err
	}
	return obj, r.removeEvents(ctx, name)
}

// removeEvents takes away what happened in a namespace that is gone.
func (r *Registry) removeEvents(ctx context.Context, namespace string) error {
	page, err := r.store.List(ctx, prefixOf(api.Events, namespace), store.ListOptions{})
	if err != nil {
		return storeError(api.Namespaces, namespace, err)
	}
	for _, entry := range page.Entries {
		if _, _, err := r.store.Delete(ctx, entry.Key, store.Any); err != nil && !errors.Is(err, store.ErrNotFound) {
			return storeError(api.Namespaces, namespace, err)
		}
	}
	return nil
}

// requireEmpty refuses to delete a namespace that has objects. Events do not
// count: nobody deletes them by hand.
func (r *Registry) requireEmpty(ctx context.Context, name string) error {
	for _, k := range api.Kinds {
		if !k.Namespaced || k == api.Events {
			continue
		}
		page, err := r.store.List(ctx, prefixOf(k, name), store.ListOptions{Limit: 1})
		if err != nil {
			return storeError(api.Namespaces, name, err)
		}
		if n := len(page.Entries) + page.Remaining; n > 0 {
			return apierrors.NewConflict(api.Namespaces.GroupResource(), name,
				fmt.Errorf("the namespace still has %d %s; delete what is in it first", n, k.Resource))
		}
	}
	return nil
}
