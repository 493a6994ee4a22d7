// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podsync

import (
	"context"
)

// mountVolumes prepares the volumes before any container sees them. A pod whose
// end is wanted does not come this far.
func (p *podSync) mountVolumes(ctx context.Context) error {
	_, err := p.Volumes.Mount(ctx, p.pod)
	if err != nil && ctx.Err() == nil {
		p.warn(p.pod, "FailedMount", err.Error())
	}
	return err
}
