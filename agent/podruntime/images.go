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
	return r.images.WatchNodeCredentials(ctx, retry)
}

// PruneImages forgets what was remembered of images that the runtime does not have any
// more. It is for the agent's start.
func (r *Runtime) PruneImages(ctx context.Context) error { return r.images.Prune(ctx) }
