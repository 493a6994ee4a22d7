// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podsync

import "context"

// admit ends a pod that the node refused when it came.
func (p *podSync) admit(context.Context) error {
	if why := p.Admission.Verdict(p.pod); why != nil {
		p.warn(p.pod, why.Reason, why.Message)
		p.Status.Rejected(p.pod, p.read, why)
		p.outcome.Terminal = true
	}
	return nil
}
