// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gc

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/api"
)

// place is where an owner has to be.
type place struct {
	kind            *api.Kind
	namespace, name string
}

// locate returns where the owner of an object in that namespace is to be looked
// for. There is no such place for a kind that is not served here, and for an owner
// within a namespace of an object without one: such references keep their object.
func locate(namespace string, ref metav1.OwnerReference) (place, bool) {
	for _, k := range collected {
		if version, kind := k.GroupVersionKind().ToAPIVersionAndKind(); version != ref.APIVersion || kind != ref.Kind {
			continue
		}
		if !k.Namespaced {
			namespace = ""
		}
		return place{k, namespace, ref.Name}, !k.Namespaced || namespace != ""
	}
	return place{}, false
}

// collected are the kinds that own and are owned. Events are neither: they end by
// themselves.
var collected = slices.DeleteFunc(slices.Clone(api.Kinds), func(k *api.Kind) bool { return k == api.Events })

// ownerState says what a reference means to its object.
type ownerState int

const (
	// solid: the owner keeps its object.
	solid ownerState = iota
	// absent: there is no such owner.
	absent
	// waiting: the owner is being deleted and waits for its dependents to end.
	waiting
)

// stateOf reads a reference with what stands in its place; nil for nothing.
func stateOf(ref metav1.OwnerReference, live api.Object) ownerState {
	switch {
	case live == nil, live.GetUID() != ref.UID:
		return absent
	case live.GetDeletionTimestamp() != nil && slices.Contains(live.GetFinalizers(), metav1.FinalizerDeleteDependents):
		return waiting
	}
	return solid
}

// refersTo returns the reference to an owner, or nil.
func refersTo(obj api.Object, owner types.UID) *metav1.OwnerReference {
	refs := obj.GetOwnerReferences()
	for i := range refs {
		if refs[i].UID == owner {
			return &refs[i]
		}
	}
	return nil
}

// withoutOwners returns an edit that takes the references to these owners away.
func withoutOwners(owners ...types.UID) func(api.Object) {
	return func(obj api.Object) {
		obj.SetOwnerReferences(slices.DeleteFunc(obj.GetOwnerReferences(),
			func(ref metav1.OwnerReference) bool { return slices.Contains(owners, ref.UID) }))
	}
}

// blocking tells whether the owner of a reference waits for the object.
func blocking(ref metav1.OwnerReference) bool {
	return ref.BlockOwnerDeletion != nil && *ref.BlockOwnerDeletion
}

// blocks tells whether any owner waits for the object.
func blocks(obj api.Object) bool { return slices.ContainsFunc(obj.GetOwnerReferences(), blocking) }

// unblocked is an edit after which no owner waits for the object.
func unblocked(obj api.Object) {
	refs := obj.GetOwnerReferences()
	for i := range refs {
		refs[i].BlockOwnerDeletion = new(false)
	}
	obj.SetOwnerReferences(refs)
}

// withoutFinalizer returns an edit that takes a finalizer away.
func withoutFinalizer(finalizer string) func(api.Object) {
	return func(obj api.Object) {
		obj.SetFinalizers(slices.DeleteFunc(obj.GetFinalizers(), func(f string) bool { return f == finalizer }))
	}
}
