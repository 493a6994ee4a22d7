// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/api"
)

// Revise lets one of the server's own parts change an object, on top of whatever
// others have written meanwhile: edit changes a copy, and is called again if
// another write comes between. Nothing is done if the record is gone, or another
// object has its name. As no user asked for it, only what the part itself could do
// wrong is to be checked, and it is the part that checks.
func (r *Registry) Revise(ctx context.Context, k *api.Kind, namespace, name string, uid types.UID, edit func(api.Object)) error {
	_, err := r.change(ctx, k, namespace, name, func(current api.Object) (decision, error) {
		if current.GetUID() != uid {
			return decision{}, nil
		}
		next := current.DeepCopyObject().(api.Object)
		edit(next)
		return decision{write: next}, nil
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
