// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package namespaces

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/server/registry"
)

// writers bounds the deletions under way in one namespace: enough to share the
// store's commits.
const writers = 16

// drain deletes what is in a namespace that is being deleted, and lets the
// namespace go once that is empty. While something has to be waited for it says
// so; the end of that has the namespace looked at again.
func (c *Controller) drain(ctx context.Context, ns *corev1.Namespace) error {
	for {
		content, err := c.content(ctx, ns.Name)
		if err != nil {
			return err
		}
		if len(content) == 0 {
			return c.finish(ctx, ns)
		}
		items := due(content)
		if len(items) == 0 {
			return c.tell(ctx, ns, content, nil)
		}
		if failures := c.deleteAll(ctx, items); len(failures) > 0 {
			return errors.Join(append(failures, c.tell(ctx, ns, content, failures))...)
		}
	}
}

// content lists all that is in a namespace. Nothing is created there any more, so
// what is found empty stays empty.
func (c *Controller) content(ctx context.Context, namespace string) (items []item, err error) {
	for _, k := range api.Kinds {
		if !k.Namespaced {
			continue
		}
		list, err := c.registry.List(ctx, k, namespace, registry.ListOptions{})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.Resource, err)
		}
		for _, obj := range list.Items {
			items = append(items, item{k, obj})
		}
	}
	return items, nil
}

// deleteAll deletes objects as a user would: pods by their own grace.
func (c *Controller) deleteAll(ctx context.Context, items []item) (failures []error) {
	var mu sync.Mutex
	var g errgroup.Group
	g.SetLimit(writers)
	for _, i := range items {
		g.Go(func() error {
			if err := c.delete(ctx, i); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failures = append(failures, err)
			}
			return nil
		})
	}
	_ = g.Wait() // failures has all
	return failures
}

func (c *Controller) delete(ctx context.Context, i item) error {
	uid, background := i.GetUID(), metav1.DeletePropagationBackground
	_, err := c.registry.Delete(ctx, i.kind, i.GetNamespace(), i.GetName(), metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: &background,
	})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // gone meanwhile
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", i.kind.Name, api.FullName(i), err)
	}
	return nil
}

// finish lets a namespace go that is empty. What holds it still is told.
func (c *Controller) finish(ctx context.Context, ns *corev1.Namespace) error {
	if len(ns.Finalizers) > 0 {
		if err := c.tell(ctx, ns, nil, nil); err != nil {
			return err
		}
	}
	return c.registry.FinalizeNamespace(ctx, ns.Name, ns.UID)
}

func (c *Controller) tell(ctx context.Context, ns *corev1.Namespace, content []item, failures []error) error {
	news := conditions(content, failures)
	return c.registry.Revise(ctx, api.Namespaces, "", ns.Name, ns.UID, func(obj api.Object) {
		setConditions(&obj.(*corev1.Namespace).Status, news, c.now())
	})
}
