// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gc

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/internal/reconcile"
	"github.com/berth-run/berth/server/registry"
)

// collect deletes an object that no owner keeps, or takes the owners from it that
// do not count any more.
func (c *Collector) collect(ctx context.Context, o *object) error {
	live, err := c.live(ctx, place{o.kind, o.namespace, o.name})
	if err != nil || live == nil || live.GetUID() != o.uid || live.GetDeletionTimestamp() != nil {
		return err
	}
	owners, err := c.ownership(ctx, live)
	if err != nil {
		return err
	}
	switch v := judge(owners, c.known(o.uid)); {
	case len(v.drop) > 0:
		return c.revise(ctx, o.kind, live, withoutOwners(v.drop...))
	case v.unblock && blocks(live):
		return c.revise(ctx, o.kind, live, unblocked) // which makes it due again
	case v.remove:
		return c.remove(ctx, o.kind, live, v.policy)
	}
	return nil
}

// remove deletes an object as it was judged. One that has changed since is due
// again, because of that change.
func (c *Collector) remove(ctx context.Context, k *api.Kind, live api.Object, policy metav1.DeletionPropagation) error {
	uid, version := live.GetUID(), live.GetResourceVersion()
	options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version}}
	if policy != "" {
		options.PropagationPolicy = &policy
	}
	_, err := c.registry.Delete(ctx, k, live.GetNamespace(), live.GetName(), options)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", k.Name, api.FullName(live), err)
	}
	c.log.Info("an object is deleted, as no owner keeps it", "kind", k.Name, "object", api.FullName(live), "uid", uid)
	return nil
}

// orphan takes an owner that is being deleted from its dependents, and lets it go.
func (c *Collector) orphan(ctx context.Context, o *object) error {
	err := c.eachDependent(ctx, o, func(k *api.Kind, dependent api.Object) error {
		return c.revise(ctx, k, dependent, withoutOwners(o.uid))
	})
	if err != nil {
		return err
	}
	return c.registry.Revise(ctx, o.kind, o.namespace, o.name, o.uid, withoutFinalizer(metav1.FinalizerOrphanDependents))
}

// foreground lets an owner go that is being deleted once no dependent blocks it.
// Until then its dependents are due; the end of each makes the owner due.
func (c *Collector) foreground(ctx context.Context, o *object, queue reconcile.Queue[types.UID]) error {
	blocked := false
	err := c.eachDependent(ctx, o, func(_ *api.Kind, dependent api.Object) error {
		queue.Add(dependent.GetUID())
		blocked = blocked || blocking(*refersTo(dependent, o.uid))
		return nil
	})
	if err != nil || blocked {
		return err
	}
	return c.registry.Revise(ctx, o.kind, o.namespace, o.name, o.uid, withoutFinalizer(metav1.FinalizerDeleteDependents))
}

// eachDependent calls do for each object that there is with a reference to an
// owner. It lists them: one that the graph has not heard of counts too.
func (c *Collector) eachDependent(ctx context.Context, owner *object, do func(*api.Kind, api.Object) error) error {
	for _, k := range collected {
		if owner.kind.Namespaced && !k.Namespaced {
			continue
		}
		list, err := c.registry.List(ctx, k, owner.namespace, registry.ListOptions{})
		if err != nil {
			return fmt.Errorf("dependents of %s: %w", owner.name, err)
		}
		for _, obj := range list.Items {
			if obj.GetUID() == owner.uid || refersTo(obj, owner.uid) == nil {
				continue
			}
			if err := do(k, obj); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Collector) ownership(ctx context.Context, obj api.Object) (ownership, error) {
	var o ownership
	for _, ref := range obj.GetOwnerReferences() {
		at, ok := locate(obj.GetNamespace(), ref)
		if !ok {
			o.add(ref, solid)
			continue
		}
		live, err := c.live(ctx, at)
		if err != nil {
			return ownership{}, err
		}
		o.add(ref, stateOf(ref, live))
	}
	return o, nil
}

// live returns what stands in a place now, or nil.
func (c *Collector) live(ctx context.Context, at place) (api.Object, error) {
	obj, err := c.registry.Get(ctx, at.kind, at.namespace, at.name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", at.kind.Name, at.name, err)
	}
	return obj, nil
}

func (c *Collector) revise(ctx context.Context, k *api.Kind, obj api.Object, edit func(api.Object)) error {
	err := c.registry.Revise(ctx, k, obj.GetNamespace(), obj.GetName(), obj.GetUID(), edit)
	if err != nil {
		return fmt.Errorf("%s %s: %w", k.Name, api.FullName(obj), err)
	}
	return nil
}
