// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podsync

import "context"

// probeContainers has those containers probed that run by the newest reading. It comes
// before the runtime, which asks what the probes say, and again after it, so that what
// has just started is asked at once.
func (p *podSync) probeContainers(context.Context) error {
	p.Probes.SyncPod(p.pod, p.read)
	return nil
}
