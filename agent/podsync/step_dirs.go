// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podsync

import (
	"context"
)

// makeDirs makes the pod's own directory.
func (p *podSync) makeDirs(context.Context) error {
	err := p.Dirs.EnsurePod(p.pod.UID)
	if err != nil {
		p.warn(p.pod, "FailedToMakePodDataDirectories", "unable to make the pod's directory: "+err.Error())
	}
	return err
}
