// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/store"
)

// storeError turns an error of the store about one object into a Status error.
func storeError(k *api.Kind, name string, err error) error {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return apierrors.NewNotFound(k.GroupResource(), name)
	case errors.Is(err, store.ErrExists):
		return apierrors.NewAlreadyExists(k.GroupResource(), name)
	case errors.Is(err, store.ErrConflict):
		return modified(k, name)
	case errors.Is(err, store.ErrCompacted), errors.Is(err, store.ErrSlowWatcher):
		return apierrors.NewResourceExpired(err.Error())
	case errors.Is(err, store.ErrClosed):
		return apierrors.NewServiceUnavailable("the server is shutting down")
	case errors.Is(err, store.ErrUnavailable):
		return apierrors.NewServiceUnavailable(fmt.Sprintf("%s %q: %v", k.Resource, name, err))
	case errors.Is(err, store.ErrTooLarge):
		return apierrors.NewRequestEntityTooLargeError(err.Error())
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return apierrors.NewInternalError(fmt.Errorf("%s %q: %w", k.Resource, name, err))
}

func modified(k *api.Kind, name string) error {
	return apierrors.NewConflict(k.GroupResource(), name,
		errors.New("the object has been modified; please apply your changes to the latest version and try again"))
}

func uidMismatch(k *api.Kind, name string, want, have types.UID) error {
	return preconditionFailed(k, name, "UID", string(want), string(have))
}

func versionMismatch(k *api.Kind, name, want, have string) error {
	return preconditionFailed(k, name, "ResourceVersion", want, have)
}

func preconditionFailed(k *api.Kind, name, what, want, have string) error {
	//lint:ignore ST1005 users and their scripts know Kubernetes' own words
	err := fmt.Errorf("Precondition failed: %s in precondition: %s, %s in object meta: %s", what, want, what, have)
	return apierrors.NewConflict(k.GroupResource(), name, err)
}

func tooLarge(k *api.Kind, name string, size int) error {
	return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("%s %q takes %d bytes; the limit is %d", k.Resource, name, size, MaxObjectBytes))
}
