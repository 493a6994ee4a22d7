// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gc

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/api"
)

// object is what the graph knows of one object.
type object struct {
	kind            *api.Kind
	namespace, name string
	uid             types.UID
	owners          []metav1.OwnerReference
	// deleting: it has a deletion timestamp. orphaning and foreground: it waits for
	// the collector to see to its dependents.
	deleting, orphaning, foreground bool
}

func newObject(k *api.Kind, obj api.Object) *object {
	deleting := obj.GetDeletionTimestamp() != nil
	return &object{
		kind: k, namespace: obj.GetNamespace(), name: obj.GetName(), uid: obj.GetUID(),
		owners:     obj.GetOwnerReferences(),
		deleting:   deleting,
		orphaning:  deleting && slices.Contains(obj.GetFinalizers(), metav1.FinalizerOrphanDependents),
		foreground: deleting && slices.Contains(obj.GetFinalizers(), metav1.FinalizerDeleteDependents),
	}
}

// graph is which object owns which, as far as it has been heard of. An owner that
// is not in it may exist all the same: the graph says only what is worth a look.
// It is pure: each change returns the UIDs of the objects to look at because of it.
type graph struct {
	objects map[types.UID]*object
	// dependents by the UID that their references name.
	dependents map[types.UID]map[types.UID]struct{}
}

func newGraph() *graph {
	return &graph{objects: map[types.UID]*object{}, dependents: map[types.UID]map[types.UID]struct{}{}}
}

// set takes in an object, new or changed.
func (g *graph) set(o *object) (due []types.UID) {
	before := g.objects[o.uid]
	if before != nil {
		g.unlink(before)
		due = g.waitingOwners(before)
	}
	g.objects[o.uid] = o
	g.link(o)
	if g.task(o) != leave {
		due = append(due, o.uid)
	}
	if o.foreground && (before == nil || !before.foreground) {
		due = append(due, g.dependentsOf(o.uid)...)
	}
	return due
}

// remove takes an object away that is gone.
func (g *graph) remove(uid types.UID) (due []types.UID) {
	o := g.objects[uid]
	if o == nil {
		return nil
	}
	delete(g.objects, uid)
	g.unlink(o)
	return append(g.waitingOwners(o), g.dependentsOf(uid)...)
}

// retain takes away the objects of a kind that do not exist any more. As what came
// and went meanwhile was not heard of, all that waits is due.
func (g *graph) retain(k *api.Kind, exist map[types.UID]struct{}) (due []types.UID) {
	for uid, o := range g.objects {
		if _, ok := exist[uid]; !ok && o.kind == k {
			due = append(due, g.remove(uid)...)
		}
	}
	for uid, o := range g.objects {
		if g.task(o) != leave {
			due = append(due, uid)
		}
	}
	return due
}

// task is what there may be to do about an object.
type task int

const (
	leave task = iota
	// collect: it has owners that may be gone, or that wait for its end.
	collect
	// orphan: it waits for its dependents to be left alone.
	orphan
	// foreground: it waits for its dependents to end.
	foreground
)

func (g *graph) task(o *object) task {
	switch {
	case o.orphaning:
		return orphan
	case o.foreground:
		return foreground
	case !o.deleting && slices.ContainsFunc(o.owners, func(ref metav1.OwnerReference) bool { return g.doubtful(o, ref) }):
		return collect
	}
	return leave
}

// doubtful tells whether a reference may not keep its object.
func (g *graph) doubtful(o *object, ref metav1.OwnerReference) bool {
	at, ok := locate(o.namespace, ref)
	if !ok {
		return false
	}
	owner := g.objects[ref.UID]
	return owner == nil || owner.foreground ||
		owner.kind != at.kind || owner.namespace != at.namespace || owner.name != at.name
}

// waitingOwners returns the owners that wait for their dependents to end.
func (g *graph) waitingOwners(o *object) (uids []types.UID) {
	for _, ref := range o.owners {
		if owner := g.objects[ref.UID]; owner != nil && owner.foreground {
			uids = append(uids, owner.uid)
		}
	}
	return uids
}

func (g *graph) dependentsOf(owner types.UID) (uids []types.UID) {
	for uid := range g.dependents[owner] {
		uids = append(uids, uid)
	}
	return uids
}

func (g *graph) link(o *object) {
	for _, ref := range o.owners {
		if g.dependents[ref.UID] == nil {
			g.dependents[ref.UID] = map[types.UID]struct{}{}
		}
		g.dependents[ref.UID][o.uid] = struct{}{}
	}
}

func (g *graph) unlink(o *object) {
	for _, ref := range o.owners {
		delete(g.dependents[ref.UID], o.uid)
		if len(g.dependents[ref.UID]) == 0 {
			delete(g.dependents, ref.UID)
		}
	}
}
