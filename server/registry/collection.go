// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/api"
)

// collectionWriters is how many objects of a collection are deleted at once: the
// store writes what is queued together.
const collectionWriters = 16

// DeleteCollection deletes the objects that a list with the same options would
// show, each as Delete does, and returns them. An object that went meanwhile, or
// was made anew under its name, is left alone.
func (r *Registry) DeleteCollection(ctx context.Context, k *api.Kind, namespace string, o metav1.DeleteOptions, which ListOptions) (List, error) {
	if !slices.Contains(k.Verbs, api.DeleteCollection) {
		return List{}, apierrors.NewMethodNotSupported(k.GroupResource(), api.DeleteCollection)
	}
	list, err := r.List(ctx, k, namespace, which)
	if err != nil {
		return List{}, err
	}
	if p := o.Preconditions; p != nil && p.UID != nil {
		return List{}, apierrors.NewBadRequest("preconditions.uid: a collection has no UID; delete the object by its name")
	}
	last := make([]api.Object, len(list.Items))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(collectionWriters)
	for i, obj := range list.Items {
		g.Go(func() (err error) {
			last[i], err = r.deleteSame(ctx, k, obj, o)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return List{}, err
	}
	list.Items = list.Items[:0]
	for _, obj := range last {
		if obj != nil {
			list.Items = append(list.Items, obj)
		}
	}
	return list, nil
}

// deleteSame deletes obj if it is still there; it returns nil if it is not.
func (r *Registry) deleteSame(ctx context.Context, k *api.Kind, obj api.Object, o metav1.DeleteOptions) (api.Object, error) {
	o.Preconditions = withUID(o.Preconditions, obj.GetUID())
	last, err := r.Delete(ctx, k, obj.GetNamespace(), obj.GetName(), o)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case apierrors.IsConflict(err):
		// It is another object of that name, unless the request asked for a version.
		if current, getErr := r.Get(ctx, k, obj.GetNamespace(), obj.GetName()); getErr == nil && current.GetUID() != obj.GetUID() {
			return nil, nil
		}
	}
	return last, err
}

func withUID(p *metav1.Preconditions, uid types.UID) *metav1.Preconditions {
	out := metav1.Preconditions{UID: &uid}
	if p != nil {
		out.ResourceVersion = p.ResourceVersion
	}
	return &out
}
