// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podsync

import (
	"context"
	"fmt"
	"strings"
)

// collectPullSecrets resolves the pod's pull secrets. Images may do without the
// missing ones: users are told, and the pull is tried.
func (p *podSync) collectPullSecrets(context.Context) error {
	var missing []string
	for _, ref := range p.pod.Spec.ImagePullSecrets {
		secret, err := p.Secrets.Secret(p.pod.Namespace, ref.Name)
		if err != nil {
			missing = append(missing, ref.Name)
			continue
		}
		p.pullSecrets = append(p.pullSecrets, *secret)
	}
	if len(missing) > 0 {
		p.warn(p.pod, "FailedToRetrieveImagePullSecret", fmt.Sprintf(
			"Unable to retrieve some image pull secrets (%s); attempting to pull the image may not succeed.", strings.Join(missing, ", ")))
	}
	return nil
}
