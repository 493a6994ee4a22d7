// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
)

// propagated adds to the deletion of an object what its options say of the
// objects that it owns: a finalizer, which the garbage collector takes away once
// it has seen to them.
func (d decision) propagated(k *api.Kind, current api.Object, o metav1.DeleteOptions) decision {
	if k == api.Events {
		return d // own nothing
	}
	next := d.result(current)
	finalizers := propagationFinalizers(next.GetFinalizers(), o)
	if slices.Equal(finalizers, next.GetFinalizers()) {
		return d
	}
	next = api.ShallowCopy(next)
	next.SetFinalizers(finalizers)
	d.write = next
	return d
}

// propagationFinalizers returns the finalizers of an object that is deleted with
// these options. Where the options say nothing, what is there stays.
func propagationFinalizers(finalizers []string, o metav1.DeleteOptions) []string {
	wanted, said := propagationFinalizer(o)
	if !said || wanted != "" && slices.Contains(finalizers, wanted) {
		return finalizers
	}
	var next []string
	for _, f := range finalizers {
		if f != metav1.FinalizerOrphanDependents && f != metav1.FinalizerDeleteDependents {
			next = append(next, f)
		}
	}
	if wanted != "" {
		next = append(next, wanted)
	}
	return next
}

// propagationFinalizer returns the finalizer that the options ask for, if any, and
// whether they say anything. orphanDependents is what clients used before there
// were policies.
func propagationFinalizer(o metav1.DeleteOptions) (finalizer string, said bool) {
	//lint:ignore SA1019 clients may still send it
	if orphan := o.OrphanDependents; orphan != nil {
		if *orphan {
			return metav1.FinalizerOrphanDependents, true
		}
		return "", true
	}
	if o.PropagationPolicy == nil {
		return "", false
	}
	switch *o.PropagationPolicy {
	case metav1.DeletePropagationOrphan:
		return metav1.FinalizerOrphanDependents, true
	case metav1.DeletePropagationForeground:
		return metav1.FinalizerDeleteDependents, true
	}
	return "", true
}
