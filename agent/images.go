// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"

	"github.com/berth-run/berth/agent/cri"
	"github.com/berth-run/berth/agent/podruntime/images"
	"github.com/berth-run/berth/agent/podruntime/images/credentials"
	"github.com/berth-run/berth/agent/podruntime/images/pulled"
	"github.com/berth-run/berth/agent/status"
)

// imagesConfig says how the node's images are pulled.
func (a *Agent) imagesConfig(client *cri.Client, statuses *status.Manager) images.Config {
	return images.Config{
		MaxParallelPulls: a.cfg.MaxParallelPulls,
		Progress: func(i credentials.Image) func(context.Context) (cri.PullProgress, error) {
			return client.WatchPull(i.Registry, i.Repository).Progress
		},
		ProgressDeadline: a.cfg.PullProgressDeadline,
		Node:             credentials.NewNodeFile(a.cfg.registryCredentials()),
		Pulled:           pulled.NewStore(a.cfg.pulledDir()),
		Waiting:          statuses.Waiting,
		Logger:           a.log,
	}
}
