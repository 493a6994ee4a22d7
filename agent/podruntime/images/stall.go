// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"fmt"
	"time"

	"github.com/berth-run/berth/agent/cri"
)

// unpackingFactor lengthens the deadline while a pull may be unpacking, which shows as
// little as a registry that does not answer.
const unpackingFactor = 10

// stall finds out when a pull has not moved for too long.
type stall struct {
	deadline time.Duration
	last     cri.PullProgress
	movedAt  time.Time
}

// observe returns an error if the pull, which is that far now, has not moved for too
// long. An image of which nothing is under way is being unpacked, or has to wait for
// others; of one whose manifest is not there yet, everything that the runtime fetches
// counts, for its turn may still come.
func (s *stall) observe(p cri.PullProgress, now time.Time) error {
	moves := s.movedAt.IsZero() || p.Done != s.last.Done || p.Total != s.last.Total ||
		p.Total > 0 && !p.Downloading ||
		p.Total == 0 && p.Elsewhere != s.last.Elsewhere
	s.last = p
	if moves {
		s.movedAt = now
		return nil
	}
	limit := s.deadline
	if p.MaybeUnpacking {
		limit *= unpackingFactor
	}
	switch idle := now.Sub(s.movedAt); {
	case idle < limit:
		return nil
	case p.Total == 0:
		return fmt.Errorf("nothing came from the registry for %s, so the pull was cancelled", idle.Round(time.Second))
	default:
		return fmt.Errorf("no progress for %s at %s of %s, so the pull was cancelled", idle.Round(time.Second), size(p.Done), size(p.Total))
	}
}
