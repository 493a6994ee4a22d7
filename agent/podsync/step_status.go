// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podsync

import (
	"context"

	"github.com/berth-run/berth/api"
)

// reportStatus reports the pod as it was found. One that has ended, or whose end
// is wanted, is started no more.
func (p *podSync) reportStatus(context.Context) error {
	status := p.Status.Syncing(p.pod, p.read, nil)
	p.outcome.Terminal = api.IsTerminalPhase(status.Phase) || p.pod.DeletionTimestamp != nil
	return nil
}
