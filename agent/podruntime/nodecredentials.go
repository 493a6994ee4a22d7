// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
)

// WatchNodeCredentials calls retry for each pod with an image that could not be pulled
// whenever the node's logins for registries change, until ctx ends.
func (r *Runtime) WatchNodeCredentials(ctx context.Context, retry func(types.UID)) error {
	return r.images.WatchNodeCredentials(ctx, r.log, retry)
}
