// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/api"
)

// A namespace ends in steps: Delete makes it Terminating, from when on nothing is
// created in it; server/namespaces deletes what is there; FinalizeNamespace says
// that it is empty, and the record goes.

// requireNamespace refuses a new object whose namespace does not exist or is
// being deleted. It is called with spaces read-held until the object is written.
func (r *Registry) requireNamespace(ctx context.Context, k *api.Kind, obj api.Object) error {
	if !k.Namespaced {
		return nil
	}
	ns, err := r.Get(ctx, api.Namespaces, "", obj.GetNamespace())
	if err != nil {
		return err
	}
	if ns.GetDeletionTimestamp() != nil {
		return namespaceTerminating(k, obj)
	}
	return nil
}

func namespaceTerminating(k *api.Kind, obj api.Object) error {
	err := apierrors.NewForbidden(k.GroupResource(), obj.GetName(), fmt.Errorf(
		"unable to create new content in namespace %s because it is being terminated", obj.GetNamespace()))
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
		Type:    corev1.NamespaceTerminatingCause,
		Message: fmt.Sprintf("namespace %s is being terminated", obj.GetNamespace()),
		Field:   "metadata.namespace",
	})
	return err
}

// deleteNamespace begins the end of a namespace. Objects that are being created in
// it are written before, or see that it is Terminating.
func (r *Registry) deleteNamespace(ctx context.Context, name string, o metav1.DeleteOptions) (api.Object, error) {
	if name == metav1.NamespaceDefault {
		return nil, apierrors.NewForbidden(api.Namespaces.GroupResource(), name, errors.New("this namespace may not be deleted"))
	}
	r.spaces.Lock()
	defer r.spaces.Unlock()
	return r.delete(ctx, api.Namespaces, "", name, o)
}

// terminating returns a namespace as being deleted, and held until it is
// finalized: one that an earlier version stored lacks the finalizer.
func terminating(ns *corev1.Namespace, now time.Time) *corev1.Namespace {
	next := marked(ns, now).(*corev1.Namespace)
	next.Status.Phase = corev1.NamespaceTerminating
	if ns.DeletionTimestamp == nil && !slices.Contains(ns.Spec.Finalizers, corev1.FinalizerKubernetes) {
		next.Spec.Finalizers = append(slices.Clip(ns.Spec.Finalizers), corev1.FinalizerKubernetes)
	}
	return next
}

// FinalizeNamespace says that a namespace that is being deleted is empty. Its
// record goes, unless finalizers in its metadata hold it. It does nothing if the
// record is gone or another one, or if nobody deletes it.
func (r *Registry) FinalizeNamespace(ctx context.Context, name string, uid types.UID) error {
	_, err := r.change(ctx, api.Namespaces, "", name, func(current api.Object) (decision, error) {
		ns := current.(*corev1.Namespace)
		if ns.UID != uid || ns.DeletionTimestamp == nil {
			return decision{}, nil
		}
		next := *ns
		next.Spec.Finalizers = slices.DeleteFunc(slices.Clone(ns.Spec.Finalizers),
			func(f corev1.FinalizerName) bool { return f == corev1.FinalizerKubernetes })
		return decision{write: &next}, nil
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
