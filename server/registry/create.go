// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/store"
)

// Create stores a new object. It returns what was stored and the warnings that
// its user should see.
func (r *Registry) Create(ctx context.Context, k *api.Kind, obj api.Object, o WriteOptions) (api.Object, []string, error) {
	obj = obj.DeepCopyObject().(api.Object)
	dropKind(obj)
	obj.SetManagedFields(nil)
	return r.create(ctx, k, obj, o)
}

// create stores a new object that is its to change and may have owners already.
func (r *Registry) create(ctx context.Context, k *api.Kind, obj api.Object, o WriteOptions) (api.Object, []string, error) {
	if err := placeInNamespace(k, obj, o.Namespace); err != nil {
		return nil, nil, err
	}
	if obj.GetResourceVersion() != "" {
		return nil, nil, apierrors.NewBadRequest("resourceVersion should not be set on objects to be created")
	}
	r.stampNew(obj)
	strategyOf(k).prepareForCreate(obj)
	if err := r.addPullSecrets(ctx, obj); err != nil {
		return nil, nil, err
	}
	if err := r.applyClasses(ctx, obj); err != nil {
		return nil, nil, err
	}
	if err := r.requireOneDefault(ctx, obj); err != nil {
		return nil, nil, err
	}

	for attempt := 0; ; attempt++ {
		generated := nameNew(obj)
		if errs := api.ValidateCreate(k, obj); len(errs) > 0 {
			return nil, nil, apierrors.NewInvalid(k.GroupVersionKind().GroupKind(), obj.GetName(), errs)
		}
		err := r.insert(ctx, k, obj, o.DryRun)
		if err == nil {
			return obj, r.warnings(obj), nil
		}
		if !generated || !apierrors.IsAlreadyExists(err) || attempt == maxNameAttempts {
			return nil, nil, err
		}
		obj.SetName("")
	}
}

// maxNameAttempts bounds how often a generated name that is taken is replaced.
const maxNameAttempts = 8

// insert writes a new object into a namespace that exists, a pod with an account
// that does.
func (r *Registry) insert(ctx context.Context, k *api.Kind, obj api.Object, dryRun bool) error {
	value, err := encode(k, obj)
	if err != nil {
		return err
	}
	r.spaces.RLock()
	defer r.spaces.RUnlock()
	if err := r.requireNamespace(ctx, k, obj); err != nil {
		return err
	}
	if err := r.requireAccount(ctx, obj); err != nil {
		return err
	}
	key := keyOf(k, obj.GetNamespace(), obj.GetName())
	if dryRun {
		return r.requireAbsent(ctx, k, key, obj.GetName())
	}
	revision, err := r.store.Create(ctx, key, value)
	if err != nil {
		return storeError(k, obj.GetName(), err)
	}
	r.share(store.Entry{Key: key, Value: value, Revision: revision}, obj)
	return nil
}

// share gives a written object its resourceVersion and lets others have it.
func (r *Registry) share(e store.Entry, obj api.Object) {
	obj.SetResourceVersion(formatRevision(e.Revision))
	settle(obj)
	r.memo.put(e, obj)
}

func (r *Registry) requireAbsent(ctx context.Context, k *api.Kind, key, name string) error {
	switch _, err := r.store.Get(ctx, key); {
	case err == nil:
		return apierrors.NewAlreadyExists(k.GroupResource(), name)
	case errors.Is(err, store.ErrNotFound):
		return nil
	default:
		return storeError(k, name, err)
	}
}

// placeInNamespace settles an object's namespace from its own and the request's.
func placeInNamespace(k *api.Kind, obj api.Object, requested string) error {
	switch own := obj.GetNamespace(); {
	case !k.Namespaced:
		obj.SetNamespace("")
	case own == "" && requested == "":
		obj.SetNamespace(metav1.NamespaceDefault)
	case own == "":
		obj.SetNamespace(requested)
	case requested != "" && own != requested:
		return apierrors.NewBadRequest(fmt.Sprintf(
			"the namespace of the provided object does not match the namespace sent on the request (%s, %s)", own, requested))
	}
	return nil
}

// stampNew sets the metadata that only the server sets.
func (r *Registry) stampNew(obj api.Object) {
	obj.SetUID(types.UID(uuid.NewString()))
	obj.SetCreationTimestamp(metav1.NewTime(r.now()).Rfc3339Copy())
	obj.SetGeneration(0)
	obj.SetDeletionTimestamp(nil)
	obj.SetDeletionGracePeriodSeconds(nil)
	obj.SetSelfLink("")
}

// nameNew makes a name from generateName where none is given, and tells whether
// it did.
func nameNew(obj api.Object) bool {
	base := obj.GetGenerateName()
	if obj.GetName() != "" || base == "" {
		return false
	}
	const suffixLength = 5
	base = base[:min(len(base), validation.DNS1123LabelMaxLength-suffixLength)]
	obj.SetName(base + rand.String(suffixLength))
	return true
}
