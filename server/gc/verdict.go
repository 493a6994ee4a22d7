// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gc

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// verdict is what happens to an object because of its owners. The zero value
// leaves it.
type verdict struct {
	// drop are the owners that it is to have no longer, as others keep it.
	drop []types.UID
	// remove deletes it, its own dependents by policy; an empty policy leaves that
	// to its finalizers.
	remove bool
	policy metav1.DeletionPropagation
	// unblock: an owner of it waits for it, while it would wait for that owner.
	unblock bool
}

// ownership is an object's references as they were found to be.
type ownership struct {
	absent, waiting []types.UID
	solid           int
}

func (o *ownership) add(ref metav1.OwnerReference, state ownerState) {
	switch state {
	case absent:
		o.absent = append(o.absent, ref.UID)
	case waiting:
		o.waiting = append(o.waiting, ref.UID)
	default:
		o.solid++
	}
}

// judge decides on an object that is not being deleted. One owner is enough to
// keep it. An object that owns others ends as its owner does, in the foreground,
// so that this waits for all of them.
func judge(o ownership, dependents []*object) verdict {
	switch {
	case len(o.absent)+len(o.waiting) == 0:
		return verdict{}
	case o.solid > 0:
		return verdict{drop: append(o.absent, o.waiting...)}
	case len(o.waiting) > 0 && len(dependents) > 0:
		v := verdict{remove: true, policy: metav1.DeletePropagationForeground}
		for _, d := range dependents {
			v.unblock = v.unblock || d.foreground
		}
		return v
	}
	return verdict{remove: true}
}
