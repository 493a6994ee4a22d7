// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"github.com/berth-run/berth/agent/podruntime/images"
	"github.com/berth-run/berth/agent/podruntime/images/credentials"
	"github.com/berth-run/berth/agent/podruntime/images/pulled"
	"github.com/berth-run/berth/agent/status"
)

// imagesConfig says how the node's images are pulled.
func (a *Agent) imagesConfig(statuses *status.Manager) images.Config {
	return images.Config{
		MaxParallelPulls: a.cfg.MaxParallelPulls,
		Node:             credentials.NewNodeFile(a.cfg.registryCredentials()),
		Pulled:           pulled.NewStore(a.cfg.pulledDir()),
		Waiting:          statuses.Waiting,
		Logger:           a.log,
	}
}
