// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/api"
)

// settled returns what a decision comes to. This is the one rule of how records
// end: what finalizers hold is not removed but marked as being deleted; a write
// that leaves nothing to wait for removes the record, and is not written.
func (d decision) settled(current api.Object, now time.Time) decision {
	switch next := d.result(current); {
	case d.remove && held(next):
		return decision{write: marked(next, now)}
	case d.write != nil && over(next):
		d.remove = true
	}
	return d
}

// held tells whether a finalizer keeps an object that is being deleted.
func held(obj api.Object) bool {
	ns, ok := obj.(*corev1.Namespace)
	return len(obj.GetFinalizers()) > 0 || ok && len(ns.Spec.Finalizers) > 0
}

// over tells whether an object that is being deleted has nothing more to wait for.
func over(obj api.Object) bool {
	return obj.GetDeletionTimestamp() != nil && ptr.Deref(obj.GetDeletionGracePeriodSeconds(), 0) == 0 && !held(obj)
}

// marked returns a shared object as being deleted, without grace.
func marked(obj api.Object, now time.Time) api.Object {
	next := api.ShallowCopy(obj)
	if next.GetDeletionTimestamp() == nil && next.GetGeneration() > 0 {
		next.SetGeneration(next.GetGeneration() + 1)
	}
	if at := next.GetDeletionTimestamp(); at == nil || at.After(now) {
		next.SetDeletionTimestamp(ptr.To(metav1.NewTime(now).Rfc3339Copy()))
	}
	next.SetDeletionGracePeriodSeconds(ptr.To(int64(0)))
	return next
}

// unmarked returns the last state of an object that is gone, and not being
// deleted any more.
func unmarked(obj api.Object) api.Object {
	next := api.ShallowCopy(obj)
	next.SetDeletionTimestamp(nil)
	next.SetDeletionGracePeriodSeconds(nil)
	return next
}
